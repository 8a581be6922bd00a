import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to a port of this host that can be cut, or frozen: frozen, it takes everything and passes nothing on. */
export async function cuttableWay(port: number) {
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
    /** Connections that are there. */
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
