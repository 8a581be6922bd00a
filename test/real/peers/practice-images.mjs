// Serves an image in practised ways, each below a path of its own; says its port in a file: practice-images.mjs IMAGE FOLDER
// FOLDER/half is made when half of an image has been sent; `/wait` then goes on once FOLDER/go is there.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [file, folder] = process.argv.slice(2)
const image = readFileSync(file)
const half = Math.floor(image.length / 2)

const rest = {
  break: (response) => response.destroy(),
  reset: (response) => response.socket.resetAndDestroy(),
  wait: (response) => {
    const waiting = setInterval(() => {
      if (!existsSync(`${folder}/go`)) return
      clearInterval(waiting)
      response.end(image.subarray(half))
    }, 50)
  },
}

const server = createServer((request, response) => {
  const [, way] = request.url.split('/')
  response.on('error', () => {})
  if (way === 'good') return response.end(image)
  if (way === 'html') {
    response.setHeader('content-type', 'text/html')
    return response.end('<!DOCTYPE html><html><body>Please log in to this network</body></html>')
  }
  if (way === 'less' || way === 'more') {
    response.strictContentLength = false
    response.writeHead(200, { 'content-length': way === 'less' ? half : image.length + half })
    return response.end(image, () => response.destroy())
  }
  if (way === 'short') {
    // What it says is there is more than it has; and it ends in order.
    response.writeHead(200, { 'transfer-encoding': 'chunked' })
    return response.end(image.subarray(0, half))
  }
  if (!(way in rest)) return response.writeHead(404).end()
  response.writeHead(200, { 'content-length': image.length })
  response.write(image.subarray(0, half), () => {
    writeFileSync(`${folder}/half`, '')
    rest[way](response)
  })
})
server.listen(0, '127.0.0.1', () => {
  writeFileSync(`${folder}/port.new`, String(server.address().port))
  renameSync(`${folder}/port.new`, `${folder}/port`)
})
