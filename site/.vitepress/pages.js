// Which pages the site has, and where links between them lead. The pages stay where they are in the repository: what
// GitHub shows and what the site shows is the same file.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

// Links to files that are no pages lead here.
const files = 'files'

// The sidebar is what docs/README.md lists: a section for each heading, an entry for each row of its table.
export function sidebar() {
  const sections = []
  for (const line of fs.readFileSync(path.join(root, 'docs/README.md'), 'utf8').split('\n')) {
    if (line.startsWith('## ')) sections.push({ text: line.slice(3), collapsed: sections.length > 2, items: [] })
    const cells = line.split(' | ')
    if (cells.length !== 2) continue
    for (const [, text, target] of cells[1].matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)) {
      const link = pageOf(path.posix.join('docs', target))
      const known = sections.flatMap((section) => section.items).some((item) => item.link === link)
      if (!known) sections.at(-1).items.push({ text: titled(text), link })
    }
  }
  return sections
}

const titled = (text) => {
  const plain = text.replaceAll('`', '')
  return plain.startsWith('tenon ') ? plain : plain[0].toUpperCase() + plain.slice(1)
}

const pageOf = (file) => '/' + file.replace(/(^|\/)README\.md$/, '$1index.md')

// links makes links of pages lead to pages, and those to other files of the repository to copies of them.
export function links(markdown, copied) {
  markdown.core.ruler.push('links-of-the-repository', (state) => {
    const folder = path.posix.dirname(state.env.relativePath ?? '')
    for (const block of state.tokens) {
      for (const token of block.children ?? []) {
        const href = token.type === 'link_open' && token.attrGet('href')
        if (href && !/^([a-z]+:|#|\/)/.test(href)) token.attrSet('href', target(folder, href, copied))
      }
    }
  })
}

function target(folder, href, copied) {
  const [name, heading] = href.split('#')
  let file = path.posix.join(folder, name).replace(/\/$/, '')
  const full = path.join(root, file)
  if (fs.statSync(full).isDirectory()) {
    if (!fs.existsSync(path.join(full, 'README.md'))) return copy(file, copied)
    file = path.posix.join(file, 'README.md')
  }
  return file.endsWith('.md') ? pageOf(file) + (heading ? '#' + heading : '') : copy(file, copied)
}

// A browser shows text, and offers the rest for download.
function copy(file, copied) {
  copied.add(file)
  return `/${files}/${file}.txt`
}

// write puts the copies beside the pages. Of a folder it is the list of what is in it.
export function write(folder, copied) {
  for (const file of copied) {
    const from = path.join(root, file)
    const to = path.join(folder, files, file + '.txt')
    fs.mkdirSync(path.dirname(to), { recursive: true })
    if (fs.statSync(from).isDirectory()) fs.writeFileSync(to, fs.readdirSync(from).sort().join('\n') + '\n')
    else fs.copyFileSync(from, to)
  }
}

// columns writes the name of its column into each cell of a table, for screens that are too narrow for columns.
export function columns(markdown) {
  markdown.core.ruler.push('columns', (state) => {
    let names, cell
    state.tokens.forEach((token, at) => {
      const text = () => state.tokens[at + 1].content.replaceAll('`', '')
      if (token.type === 'table_open') names = []
      if (token.type === 'th_open') names.push(text())
      if (token.type === 'tr_open') cell = 0
      if (token.type === 'td_open') token.attrSet('data-column', names[cell++])
    })
  })
}

// language of code that is indented, which names none.
export function language(code) {
  if (/^(- )?[\w.-]+:( |$)/m.test(code.split('\n')[0])) return 'yaml'
  return /^(\(?cd|set|export|make|go|kubectl|helm|aws|eksctl|envsubst|sed|curl|npm|tenon|bin\/tenon|bin\/tenon-lab)( |$)/.test(code.replace(/^\(/, '')) ? 'sh' : 'txt'
}

// onlyCommands says whether lines of code may be wrapped. What commands print stands below them, after an empty line.
export const onlyCommands = (code) => code.info === 'sh' && !code.content.trim().includes('\n\n')
