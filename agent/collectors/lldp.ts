import type { Clock } from '../../runtime/index.js'
import type { Target } from '../../targets/index.js'

/** A type and its value in hexadecimal, as it came over the wire. */
export type Tlv = [type: number, value: string]

/**
 * What the switches say of themselves: the TLVs of one LLDP frame on each interface, as tcpdump catches it. An interface
 * on which nothing is heard in time has an empty list.
 *
 * @param timeout milliseconds for all of them, which listen side by side; switches speak every 30 s
 * @throws Error when nobody can listen
 */
export async function lldpNeighbours(
  target: Target,
  interfaces: readonly string[],
  { clock, timeout, signal }: { clock: Clock; timeout: number; signal: AbortSignal },
): Promise<Record<string, Tlv[]>> {
  const heard = await Promise.all(
    interfaces.map(async (name): Promise<[string, Tlv[]]> => {
      const frame = await firstFrame(target, name, { clock, timeout, signal })
      return [name, frame ? parseTlvs(frame) : []]
    }),
  )
  return Object.fromEntries(heard)
}

async function firstFrame(
  { executor }: Target,
  name: string,
  { clock, timeout, signal }: { clock: Clock; timeout: number; signal: AbortSignal },
): Promise<Uint8Array | undefined> {
  const argv = ['tcpdump', '-i', name, '-Q', 'in', '-c', '1', '-s', '0', '-w', '-', 'ether proto 0x88cc'] as const
  const run = await executor.start({ argv, effect: 'reads' })
  const heard = new AbortController()
  const limit = clock.sleep(timeout, { signal: AbortSignal.any([signal, heard.signal]) }).then(
    () => run.cancel(),
    () => {},
  )
  const caught: Uint8Array[] = []
  const said: Uint8Array[] = []
  for await (const { stream, bytes } of run.output) (stream === 'stdout' ? caught : said).push(bytes)
  const exit = await run.exit
  heard.abort()
  await limit
  signal.throwIfAborted()
  if (exit.kind === 'exited' && exit.code !== 0)
    throw new Error(`tcpdump on ${name} ended with exit code ${exit.code}: ${Buffer.concat(said).toString().trim()}`)
  return packetOf(Buffer.concat(caught))
}

/** The first packet of a pcap file: a header of 24 bytes, then for each packet 16, with its length at the ninth. */
function packetOf(pcap: Buffer): Uint8Array | undefined {
  if (pcap.length < 40) return undefined
  const length = pcap.readUInt32LE(0) === 0xa1b2c3d4 ? pcap.readUInt32LE(32) : pcap.readUInt32BE(32)
  return pcap.subarray(40, 40 + length)
}

const ETHERNET_HEADER = 14

/** IEEE 802.1AB: seven bits of type, nine of length, the value; type 0 is the end. */
export function parseTlvs(frame: Uint8Array): Tlv[] {
  const bytes = Buffer.from(frame)
  const tlvs: Tlv[] = []
  for (let at = ETHERNET_HEADER; at + 2 <= bytes.length;) {
    const head = bytes.readUInt16BE(at)
    const end = at + 2 + (head & 0x1ff)
    if (head >> 9 === 0 || end > bytes.length) break
    tlvs.push([head >> 9, bytes.toString('hex', at + 2, end)])
    at = end
  }
  return tlvs
}
