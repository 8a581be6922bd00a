import { announcedNeighbour } from '../../hardware/lldp/announced-neighbour.js'
import { lldpFrame } from '../../hardware/lldp/lldp-frame.js'
import type { MachineProgram } from '../machine-program.js'

/**
 * `tcpdump -i NIC ... -w - 'ether proto 0x88cc'`, its only use here: capturing the LLDP frames of the switch. The switch
 * sends a frame at once, unless its port sends none.
 */
export const tcpdump: MachineProgram = async ({ argv, inside, clock, signal, stdout, stderr }) => {
  const name = argv[argv.indexOf('-i') + 1]
  const index = inside.spec.nics.findIndex((nic) => nic.name === name)
  const nic = inside.spec.nics[index]
  if (!nic || !argv.includes('-i')) {
    stderr(`tcpdump: ${name ?? ''}: No such device exists\n`)
    return 1
  }
  if (argv.at(-1) !== 'ether proto 0x88cc' || !argv.includes('-w')) {
    stderr('tcpdump: this one catches LLDP only: -w - "ether proto 0x88cc"\n')
    return 1
  }
  stderr(`tcpdump: listening on ${nic.name}, link-type EN10MB (Ethernet), snapshot length 262144 bytes\n`)
  const neighbour = announcedNeighbour(nic, index)
  // No frame arrives without a link, or from a port without LLDP.
  if (!neighbour || !nic.carrier || !inside.files.exists(`/sys/class/net/${nic.name}/carrier`)) {
    await clock.sleep(2 ** 31 - 1, { signal, weak: true })
    return 0
  }
  const frame = lldpFrame(neighbour)
  const seconds = Math.floor(clock.now() / 1000)
  stdout(
    Buffer.concat([
      packWords(0xa1b2c3d4, 0x00040002, 0, 0, 262_144, 1),
      packWords(seconds, 0, frame.length, frame.length),
    ]),
  )
  stdout(frame)
  return 0
}

/** 32-bit words in little-endian order, as in pcap files of common machines. */
function packWords(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => buffer.writeUInt32LE(value >>> 0, index * 4))
  return buffer
}
