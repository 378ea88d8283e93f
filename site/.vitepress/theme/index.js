import DefaultTheme from 'vitepress/theme'
import Versions from './Versions.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('Versions', Versions)
  },
}
