import type { Server } from 'node:net'
import { withClockHeld, UserError, type Clock } from '../runtime/index.js'

/**
 * Has a server listen; a virtual clock stands still meanwhile.
 *
 * @param port 0 for a free one
 * @throws UserError `port-in-use` or `address-unusable`
 */
export async function listen(server: Server, host: string, port: number, clock: Clock): Promise<void> {
  try {
    await withClockHeld(clock, `listening on ${host}:${port}`, () => {
      return new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host, port }, () => {
          server.off('error', reject)
          resolve()
        })
      })
    })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE')
      throw new UserError('port-in-use', `port ${port} on ${host} is already in use`, {
        remedy: 'stop the program that listens there, choose another port, or let port 0 pick a free one',
        cause,
      })
    throw new UserError('address-unusable', `cannot listen on ${host}, port ${port}: ${code ?? String(cause)}`, {
      remedy: 'choose an address of this host (127.0.0.1 for this host only) and a port that you may use',
      cause,
    })
  }
}
