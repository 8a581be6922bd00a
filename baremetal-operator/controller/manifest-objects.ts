import { apiVersionOf, type KubeKind, type KubeKinds, type NewObject } from '../../base/kubernetes/index.js'
import { defined } from '../../base/runtime/index.js'
import type {
  BareMetalHostManifest,
  ManifestMetadata,
  OtherManifest,
  SecretManifest,
} from '../manifests/manifest-types.js'
import type { HostManifests, LooseManifest } from '../manifests/wanted-hosts.js'

type NewOf<K extends KubeKind> = NewObject<KubeKinds[K]> & { kind: K }
/** An object of a manifest, as it is created. */
export type ManifestObject = { [K in KubeKind]: NewOf<K> }[KubeKind]

/** Secrets and firmware of a host. @param key `NAMESPACE/NAME` */
export function objectsBeside(key: string, { secrets, settings, updates, others }: HostManifests): ManifestObject[] {
  const [namespace = '', name = ''] = key.split('/')
  const metadata = { name, namespace }
  const objects: ManifestObject[] = secrets.map((secret) => secretObject(secret, namespace))
  if (settings) objects.push(makeKubeObject('HostFirmwareSettings', { metadata, spec: { settings } }))
  if (updates) objects.push(makeKubeObject('HostFirmwareComponents', { metadata, spec: { updates } }))
  return [...objects, ...others.map((manifest) => looseObject({ namespace, manifest }))]
}

/** An object of the files that is applied as it is. */
export function looseObject({ namespace, manifest }: Omit<LooseManifest, 'file'>): ManifestObject {
  if (manifest.kind === 'Secret') return secretObject(manifest as SecretManifest, namespace)
  const { kind, metadata, spec } = manifest as OtherManifest
  return makeKubeObject(kind, {
    metadata: appliedMetadata(metadata, metadata.name, namespace),
    ...defined({ spec }),
  }) as ManifestObject
}

const makeKubeObject = <K extends KubeKind>(kind: K, rest: object): NewOf<K> =>
  ({ apiVersion: apiVersionOf(kind), kind, ...rest }) as unknown as NewOf<K>

export function hostObject({ metadata, spec }: BareMetalHostManifest, key: string): NewOf<'BareMetalHost'> {
  const [namespace = '', name = ''] = key.split('/')
  return makeKubeObject('BareMetalHost', { metadata: appliedMetadata(metadata, name, namespace), spec })
}

/** Metadata of a manifest that an API takes. */
const appliedMetadata = ({ labels, annotations }: ManifestMetadata, name: string, namespace: string) => ({
  name,
  namespace,
  ...defined({ labels, annotations }),
})

/** Secrets become values as the API keeps them, so that what is applied is compared with what is there. */
function secretObject(manifest: SecretManifest, namespace: string): NewOf<'Secret'> {
  const { metadata, type = 'Opaque', data = {}, stringData = {} } = manifest
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
  const plain = Object.entries(data).map(([key, text]) => [key, text.replaceAll(/\s/g, '')])
  return makeKubeObject('Secret', {
    metadata: appliedMetadata(metadata, metadata.name, namespace),
    type,
    data: Object.fromEntries([...plain, ...encoded]) as Record<string, string>,
  })
}
