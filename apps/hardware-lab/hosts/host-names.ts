import type { Host } from './host.js'

/** The disk as `--device` and `--yes-erase` name it. */
export function deviceOf({ disk }: Pick<Host, 'disk'>): [device: string, yesErase?: string] {
  const { serial, wwn, name, size, 'by-id': byId, 'by-path': byPath } = disk
  if (byPath !== undefined) {
    const place = byPath.startsWith('/') ? byPath : `/dev/disk/by-path/${byPath}`
    return size === undefined ? [place] : [place, String(size)]
  }
  const stable = wwn ?? serial
  if (name !== undefined) return stable === undefined ? [name] : [name, stable]
  if (byId !== undefined) return [byId.startsWith('/dev/') ? byId : `/dev/disk/by-id/${byId}`]
  return [stable!]
}

/** `ssh://core@192.0.2.7:22` */
export function sshUrlOf({ ssh }: Pick<Host, 'ssh'>): string {
  const { address, user = 'core' } = ssh
  return `ssh://${address.includes('@') ? address : `${user}@${address}`}`
}

/** The machine that a host is, for locks: two runs that name it differently are the same. */
export const machineKeyOf = (host: Host): string =>
  host.bmc ? `bmc ${host.bmc.redfish ?? host.bmc.ipmi}${host.bmc.system ?? ''}` : sshUrlOf(host)
