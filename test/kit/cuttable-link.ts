import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy of a port of this host. It can be cut, or frozen: a frozen link accepts bytes and passes none on. */
export async function cuttableLink(port: number) {
  const sockets = new Set<Socket>()
  let frozen = false
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    near.setNoDelay(true)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    const pass = (from: Socket, to: Socket) => from.on('data', (bytes: Buffer) => void (frozen || to.write(bytes)))
    pass(near, far)
    pass(far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    /** The number of open connections. */
    connections: () => sockets.size / 2,
    freeze: () => void (frozen = true),
    thaw: () => void (frozen = false),
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
