/** Link-local IPv6 address of a MAC address, as kernels make it (RFC 4291, appendix A). */
export function linkLocalAddress(mac: string): string {
  const bytes = mac.split(':').map((byte) => Number.parseInt(byte, 16))
  const id = [bytes[0]! ^ 2, bytes[1]!, bytes[2]!, 0xff, 0xfe, bytes[3]!, bytes[4]!, bytes[5]!]
  const groups = [0, 2, 4, 6].map((at) => ((id[at]! << 8) | id[at + 1]!).toString(16))
  return `fe80::${groups.join(':')}`
}
