import type { Clock } from '../../base/runtime/index.js'
import type { InventoryInterface } from '../../base/wire/index.js'
import type { Target } from '../../targets/index.js'

/** A type and its value in hexadecimal, as received. */
export type Tlv = [type: number, value: string]

/** How long, and until when, frames are waited for. */
interface FrameWait {
  clock: Clock
  /** Milliseconds for all interfaces, which are listened to at once; switches send every 30 s. */
  timeout: number
  signal: AbortSignal
}

/**
 * TLVs of one LLDP frame on each interface, as tcpdump captures it. An interface without a frame in time has an empty
 * list, and so has one without a link, on which the real agent waits in vain.
 *
 * @throws Error when tcpdump cannot listen
 */
export async function interfaceFrames(
  target: Target,
  interfaces: readonly Pick<InventoryInterface, 'name' | 'has_carrier'>[],
  wait: FrameWait,
): Promise<Record<string, Tlv[]>> {
  const heard = await Promise.all(
    interfaces.map(async ({ name, has_carrier: hasLink }): Promise<[string, Tlv[]]> => {
      const frame = hasLink ? await firstFrame(target, name, wait) : undefined
      return [name, frame ? parseTlvs(frame) : []]
    }),
  )
  return Object.fromEntries(heard)
}

async function firstFrame(
  { executor }: Target,
  name: string,
  { clock, timeout, signal }: FrameWait,
): Promise<Uint8Array | undefined> {
  const argv = ['tcpdump', '-i', name, '-Q', 'in', '-c', '1', '-s', '0', '-w', '-', 'ether proto 0x88cc'] as const
  const run = await executor.start({ argv, effect: 'reads' })
  const heard = new AbortController()
  const limit = clock.sleep(timeout, { signal: AbortSignal.any([signal, heard.signal]) }).then(
    () => run.cancel(),
    () => {},
  )
  const caught: Uint8Array[] = []
  const errors: Uint8Array[] = []
  for await (const { stream, bytes } of run.output) (stream === 'stdout' ? caught : errors).push(bytes)
  const exit = await run.exit
  heard.abort()
  await limit
  signal.throwIfAborted()
  if (exit.kind === 'exited' && exit.code !== 0)
    throw new Error(`tcpdump on ${name} ended with exit code ${exit.code}: ${Buffer.concat(errors).toString().trim()}`)
  return packetOf(Buffer.concat(caught))
}

/**
 * First packet of a pcap file: a file header of 24 bytes, then for each packet a header of 16, with its length at byte
 * 8.
 */
function packetOf(pcap: Buffer): Uint8Array | undefined {
  if (pcap.length < 40) return undefined
  const length = pcap.readUInt32LE(0) === 0xa1b2c3d4 ? pcap.readUInt32LE(32) : pcap.readUInt32BE(32)
  return pcap.subarray(40, 40 + length)
}

const ETHERNET_HEADER = 14

/**
 * Parses TLVs (IEEE 802.1AB): seven bits of type, nine of length, the value. Like ironic-python-agent 13.0.0 netutils.py
 * _parse_tlv it lists also the TLV that ends them, what comes after it, and the rest of one that is cut off.
 */
export function parseTlvs(frame: Uint8Array): Tlv[] {
  const bytes = Buffer.from(frame)
  const tlvs: Tlv[] = []
  for (let at = ETHERNET_HEADER; at + 2 <= bytes.length;) {
    const head = bytes.readUInt16BE(at)
    const end = at + 2 + (head & 0x1ff)
    tlvs.push([head >> 9, bytes.toString('hex', at + 2, end)])
    at = end
  }
  return tlvs
}
