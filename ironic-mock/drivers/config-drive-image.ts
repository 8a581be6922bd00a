import { gzipSync } from 'node:zlib'
import { defined } from '../../base/runtime/index.js'
import type { JsonObject, NodeRecord } from '../../base/wire/index.js'
import { writeIso } from '../../base/bytes/index.js'

/** Completes a config drive that is an object: the uuid and name of the node are added where its metadata has none. */
export function completeConfigDrive({ uuid, name }: Pick<NodeRecord, 'uuid' | 'name'>, parts: JsonObject): JsonObject {
  const metadata = (parts.meta_data ?? {}) as JsonObject
  const meta_data = {
    ...metadata,
    uuid: metadata.uuid ?? uuid,
    ...defined({ name: name === null ? undefined : (metadata.name ?? name) }),
  }
  return { ...parts, meta_data }
}

/**
 * Config drive as an agent takes it: base64 of a gzipped filesystem, or a URL. An object becomes a filesystem labelled
 * `config-2`, with the folders of two versions, as in OpenStack.
 *
 * @param at milliseconds since the epoch: the filesystem's times
 */
export function configDriveImage(configdrive: unknown, at: number): string | null {
  if (typeof configdrive === 'string') return configdrive === '' ? null : configdrive
  if (configdrive === undefined || configdrive === null) return null
  const { meta_data, network_data, vendor_data, user_data } = configdrive as JsonObject
  const files: Record<string, Uint8Array> = { 'meta_data.json': encodeDriveJson(meta_data ?? {}) }
  if (isFilled(network_data)) files['network_data.json'] = encodeDriveJson(network_data)
  if (isFilled(vendor_data)) files['vendor_data2.json'] = encodeDriveJson(vendor_data)
  if (typeof user_data === 'string' && user_data !== '') files.user_data = Buffer.from(user_data)
  else if (typeof user_data === 'object' && user_data !== null) files.user_data = encodeDriveJson(user_data)
  const versions = ['2012-08-10', 'latest'].flatMap((version) =>
    Object.entries(files).map(([name, bytes]): [string, Uint8Array] => [`openstack/${version}/${name}`, bytes]),
  )
  return gzipSync(writeIso(Object.fromEntries(versions), { label: 'config-2', at })).toString('base64')
}

const encodeDriveJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
