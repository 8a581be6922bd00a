import { gzipSync } from 'node:zlib'
import type { JsonObject, NodeRecord } from '../../wire/index.js'
import { writeIso } from '../../bytes/index.js'

/** A configdrive that is given in its parts; who and where the node is gets in where nothing else says so. */
export function completeConfigDrive({ uuid, name }: Pick<NodeRecord, 'uuid' | 'name'>, parts: JsonObject): JsonObject {
  const given = (parts.meta_data ?? {}) as JsonObject
  const meta_data = { ...given, uuid: given.uuid ?? uuid, ...(name === null ? {} : { name: given.name ?? name }) }
  return { ...parts, meta_data }
}

/**
 * A configdrive as an agent takes it: base64 of a gzipped filesystem, or its URL. One given in its parts becomes a
 * filesystem labelled `config-2`, with the folders of two versions as OpenStack's are.
 *
 * @param at milliseconds since the epoch: the filesystem's times
 */
export function configDriveImage(given: unknown, at: number): string | null {
  if (typeof given === 'string') return given === '' ? null : given
  if (given === undefined || given === null) return null
  const { meta_data, network_data, vendor_data, user_data } = given as JsonObject
  const files: Record<string, Uint8Array> = { 'meta_data.json': json(meta_data ?? {}) }
  if (isFilled(network_data)) files['network_data.json'] = json(network_data)
  if (isFilled(vendor_data)) files['vendor_data2.json'] = json(vendor_data)
  if (typeof user_data === 'string' && user_data !== '') files.user_data = Buffer.from(user_data)
  else if (typeof user_data === 'object' && user_data !== null) files.user_data = json(user_data)
  const versions = ['2012-08-10', 'latest'].flatMap((version) =>
    Object.entries(files).map(([name, bytes]): [string, Uint8Array] => [`openstack/${version}/${name}`, bytes]),
  )
  return gzipSync(writeIso(Object.fromEntries(versions), { label: 'config-2', at })).toString('base64')
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
