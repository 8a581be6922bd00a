import { SWITCH_CHASSIS, switchPort } from '../../hardware/switch-port.js'
import type { MachineProgram } from '../machine-program.js'

const LLDP_MULTICAST = '0180c200000e'

/**
 * `tcpdump -i NIC ... -w - 'ether proto 0x88cc'`, its only use here: capturing the LLDP frames of the switch. Every NIC
 * with a link is at a port of its own of one switch, which sends a frame at once.
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
  // No frame arrives without a link.
  if (!nic.carrier || !inside.files.exists(`/sys/class/net/${nic.name}/carrier`))
    await clock.sleep(2 ** 31 - 1, { signal, weak: true })
  const frame = announcement(index)
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

/** An Ethernet frame with LLDP: chassis, port, time to live, name of the switch. */
function announcement(index: number): Buffer {
  const chassis = SWITCH_CHASSIS.replaceAll(':', '')
  return Buffer.concat([
    Buffer.from(`${LLDP_MULTICAST}${chassis}88cc`, 'hex'),
    tlv(1, Buffer.from(`04${chassis}`, 'hex')),
    tlv(2, Buffer.concat([Buffer.of(5), Buffer.from(switchPort(index))])),
    tlv(3, Buffer.of(0, 120)),
    tlv(5, Buffer.from('switch-1')),
    tlv(0, Buffer.alloc(0)),
  ])
}

function tlv(type: number, value: Uint8Array): Buffer {
  const head = Buffer.alloc(2)
  head.writeUInt16BE((type << 9) | value.length)
  return Buffer.concat([head, value])
}
