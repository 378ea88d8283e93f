// Serves bin/site to this machine alone, without any network.
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../bin/site', import.meta.url))
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.woff2': 'font/woff2', '.txt': 'text/plain' }
const port = Number(process.env.PORT ?? 8090)

http
  .createServer((request, response) => {
    // The parser of addresses takes ".." out.
    let file = path.join(root, decodeURIComponent(new URL(request.url, 'http://localhost').pathname))
    if (fs.existsSync(file) && fs.statSync(file).isDirectory()) file = path.join(file, 'index.html')
    if (!file.startsWith(root) || !fs.existsSync(file)) return response.writeHead(404).end('no such page\n')
    response.writeHead(200, { 'content-type': `${types[path.extname(file)] ?? 'application/octet-stream'}; charset=utf-8` })
    fs.createReadStream(file).pipe(response)
  })
  .listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`))
