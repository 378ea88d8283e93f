// The site of the documents. "make site" sets VERSION, and puts what comes of it into bin/site/VERSION.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { columns, language, links, onlyCommands, root, sidebar, write } from './pages.js'

const version = process.env.VERSION ?? 'dev'
const copied = new Set()

export default defineConfig({
  title: 'Tenon',
  description: 'A node autoscaler for Kubernetes that speaks the API of Karpenter, and says why.',
  srcDir: root,
  srcExclude: ['site/**', 'bin/**', '.*/**', 'lab/e2e/**', '**/testdata/**', 'charts/**/*.md'],
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  outDir: `../bin/site/${version}`,
  cacheDir: '../bin/site.cache',
  base: `/${version}/`,
  lastUpdated: false, // the same commit gives the same bytes
  // Pages are outside of this folder, and find Vue here.
  vite: { resolve: { alias: { vue: fileURLToPath(new URL('../node_modules/vue', import.meta.url)) } } },
  markdown: {
    html: false,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    config(markdown) {
      links(markdown, copied)
      columns(markdown)
      // Generated pages begin with a comment for editors, which would be shown because HTML is not rendered.
      markdown.core.ruler.before('normalize', 'comment', (state) => {
        state.src = state.src.replace(/^<!--.*?-->\n/s, '')
      })
      // The highlighter does not know the language of Prometheus.
      markdown.core.ruler.push('languages', (state) => {
        for (const token of state.tokens) if (token.info === 'promql') token.info = 'txt'
      })
      // A long name may be broken behind its dots and strokes, so that columns are narrow and words stay whole.
      const inline = markdown.renderer.rules.code_inline
      markdown.renderer.rules.code_inline = (...args) => inline(...args).replace(/(?<!<)[._/:,](?=[^\s<])/g, '$&<wbr>')
      // Code that is indented looks like code that is fenced: commands, parts of manifests, or what a command prints.
      markdown.renderer.rules.code_block = (tokens, at, options, env, self) => {
        tokens[at].info = language(tokens[at].content)
        const html = self.rules.fence(tokens, at, options, env, self)
        return onlyCommands(tokens[at]) ? html.replace('class="', 'class="commands ') : html
      }
    },
  },
  buildEnd: (site) => write(site.outDir, copied),
  themeConfig: {
    version,
    nav: [
      { text: 'Get started', link: '/docs/getting-started-laptop' },
      { text: 'How to', link: '/docs/how-to/' },
      { text: 'Concepts', link: '/docs/concepts/' },
      { text: 'All documents', link: '/docs/' },
      { component: 'Versions' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: false, next: false },
    externalLinkIcon: true,
  },
})
