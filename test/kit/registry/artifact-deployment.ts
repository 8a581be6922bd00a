import type { ApiNode, JsonObject } from '../../../base/wire/index.js'
import { hexOf } from './disk-artifacts.js'
import type { RegistryServerHandle } from './registry-server.js'

/** Requests of a deployment by `direct` from a registry with tokens, as a real Ironic 39.0.0 sends them. */
export const ARTIFACT_CALLS = [
  'GET /v2/',
  'GET /token',
  'GET /v2/org/disk/tags/list Bearer',
  'GET /v2/org/disk/manifests/latest Bearer',
  'GET /v2/org/disk/manifests/DIGEST Bearer',
  'GET /v2/',
  'GET /token',
  'GET /v2/org/disk/manifests/DIGEST Bearer',
  'GET /v2/org/disk/blobs/DIGEST Bearer',
]

/** Requests that a registry has seen; those of one kind that follow each other are what they are in a real Ironic too. */
export const callsOf = ({ seen }: RegistryServerHandle): string[] =>
  seen.map(({ method, url, authorization }) => {
    const path = url.replace(/\?.*$/s, '').replace(/sha256:[0-9a-f]{64}/, 'DIGEST')
    return `${method} ${path}${authorization?.startsWith('Bearer ') ? ' Bearer' : ''}`
  })

/** Members that tell which artifact was chosen, as the API shows them. */
export function artifactMembers({ instance_info, driver_internal_info }: ApiNode): JsonObject {
  const found = Object.entries(instance_info).filter(([name]) => name.startsWith('image_') || name.startsWith('oci_'))
  const { image_source, container_image_type } = driver_internal_info
  return { ...Object.fromEntries(found), driver_internal_info: { image_source, container_image_type } }
}

/** Those of a real Ironic 39.0.0. */
export function expectedMembers(registry: RegistryServerHandle, bytes: Buffer): JsonObject {
  const manifests = registry.repositories.get('org/disk')!.manifests.keys()
  const manifest = manifests.next().value!
  const source = `oci://${registry.host}/org/disk`
  return {
    image_source: source,
    image_pull_secret: '******',
    image_url: '******',
    image_size: bytes.length,
    image_filename: null,
    image_checksum: hexOf(bytes),
    image_container_manifest_digest: manifest,
    image_media_type: 'application/octet-stream',
    image_compression_type: null,
    image_disk_format: 'qcow2',
    image_request_authorization_secret: '******',
    image_type: 'whole-disk',
    oci_image_manifest_url: `${source}@${manifest}`,
    // The end of the deployment has taken the source away.
    driver_internal_info: { image_source: undefined, container_image_type: 'oci_artifact' },
  }
}
