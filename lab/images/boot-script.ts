import type { NodeRecord, PortRecord } from '../../base/wire/index.js'
import type { BootSource } from '../../ironic-mock/index.js'
import type { BootFiles } from './boot-files.js'

export interface ScriptedNode {
  readonly record: Readonly<NodeRecord>
  readonly ports: readonly PortRecord[]
  readonly files: BootFiles
}

/** Has the boot script of a node's NICs lead to where its machine is to boot from. */
export function publishBootScript({ record: { uuid }, ports, files }: ScriptedNode, source: BootSource): void {
  const macs = ports.map(({ address }) => address)
  if (source.kind === 'pxe') return files.publishScript(uuid, macs, source)
  if (source.kind === 'live' && 'kernel' in source.image)
    return files.publishScript(uuid, macs, { ...source.image, append: '' })
  files.publishScript(uuid, macs, 'disk')
}
