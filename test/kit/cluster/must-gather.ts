import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'

interface GatheredObject {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
}

/** Plurals that are not the kind with an s. */
const PLURALS: Readonly<Record<string, string>> = { HardwareData: 'hardwaredata', Infrastructure: 'infrastructures' }
const pluralOf = (kind: string): string => PLURALS[kind] ?? `${kind.toLowerCase()}s`

/** The objects of a folder with outputs of `oc get -o yaml`. */
export async function objectsIn(folder: string): Promise<GatheredObject[]> {
  const found: GatheredObject[] = []
  for (const name of await readdir(folder)) {
    const documents = parseAllDocuments(await readFile(join(folder, name), 'utf8'))
    for (const document of documents) {
      const value = document.toJS() as GatheredObject & { items?: GatheredObject[] }
      found.push(...(value.items ?? [value]))
    }
  }
  return found
}

/**
 * Writes objects as `oc adm inspect` does: a file each, but for ConfigMaps and Secrets, which are lists.
 *
 * @param root folder of one image
 */
export async function writeGathered(root: string, objects: readonly GatheredObject[]): Promise<void> {
  const lists = new Map<string, GatheredObject[]>()
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : 'core'
    const scope = metadata.namespace === undefined ? 'cluster-scoped-resources' : join('namespaces', metadata.namespace)
    const folder = join(root, scope, group, pluralOf(kind))
    if (kind === 'ConfigMap' || kind === 'Secret') lists.set(folder, [...(lists.get(folder) ?? []), object])
    else await written(join(folder, `${metadata.name}.yaml`), object)
  }
  for (const [folder, items] of lists) {
    const bare = items.map(({ apiVersion: _version, kind: _kind, ...rest }) => rest)
    await written(`${folder}.yaml`, { apiVersion: 'v1', kind: `${items[0]!.kind}List`, items: bare })
  }
}

async function written(path: string, object: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `---\n${stringify(object)}`)
}
