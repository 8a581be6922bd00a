import { rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'

const at = (end) => (/^\d+$/.test(end) ? { host: '127.0.0.1', port: Number(end) } : { path: end })

/** Passes bytes from whoever connects to one end on to the other; an end is a port of loopback or a Unix socket's path. */
export async function relay(from, to) {
  const sockets = new Set()
  const server = createServer((near) => {
    const far = connect(at(to))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(one)
      one.once('close', () => {
        sockets.delete(one)
        other.destroySoon()
      })
      one.on('error', () => other.destroy())
      one.pipe(other)
    }
  })
  // A Unix socket stays behind whoever is killed.
  if (at(from).path) await rm(from, { force: true })
  await new Promise((resolve, reject) => server.once('error', reject).listen(at(from), resolve))
  const { port } = server.address()
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  const ends = process.argv.slice(2)
  for (let index = 0; index < ends.length; index += 2) await relay(ends[index], ends[index + 1])
}
