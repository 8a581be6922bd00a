import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { IpmiBmc } from '../../../bmc/ipmi/index.js'

/** How long an answer may take, in milliseconds. */
const UDP_ANSWER_TIMEOUT = 3000

/** A BMC behind a UDP port of loopback. A datagram without an answer in time has none. */
export function overUdp(port: number, timeout = UDP_ANSWER_TIMEOUT): IpmiBmc {
  const socket = createSocket('udp4')
  return {
    receive: async (datagram, send) => {
      const waited = new AbortController()
      const timer = setTimeout(() => waited.abort(), timeout)
      try {
        socket.send(datagram, port, '127.0.0.1')
        const [answer] = (await once(socket, 'message', { signal: waited.signal })) as [Buffer]
        send(answer)
      } catch (error) {
        if (!waited.signal.aborted) throw error
      } finally {
        clearTimeout(timer)
      }
    },
    [Symbol.dispose]: () => void socket.close(),
  }
}
