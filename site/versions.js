// versions.js FOLDER VERSION lists the versions that are in a folder, newest first, and leads its visitors to VERSION.
import fs from 'node:fs'

const [folder, version] = process.argv.slice(2)
const versions = fs
  .readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
fs.writeFileSync(`${folder}/versions.json`, JSON.stringify(versions) + '\n')
fs.writeFileSync(`${folder}/index.html`, `<!doctype html><meta http-equiv="refresh" content="0; url=${version}/"><a href="${version}/">Tenon ${version}</a>\n`)
