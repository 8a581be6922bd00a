import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../runtime/index.js'
import { images, putFiles } from '../../../test/kit/registry/images.js'
import { registryServer } from '../../../test/kit/registry/registry-server.js'
import { parsePlace, parseReference, referenceText } from '../places/reference.js'
import { mirrorCandidates, type MirrorRule } from './mirrors.js'
import { readMirrors } from './read-mirrors.js'

const D = `sha256:${'d'.repeat(64)}`
let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-mirrors-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

async function rules(text: string): Promise<MirrorRule[]> {
  const path = join(folder, 'mirrors')
  await writeFile(path, text)
  return (await readMirrors(path, systemClock())).rules
}
const places = (reference: string, some: readonly MirrorRule[]) =>
  mirrorCandidates(parseReference(reference), some).places.map(referenceText)

const ICSP = `apiVersion: operator.openshift.io/v1alpha1
kind: ImageContentSourcePolicy
metadata: {name: release}
spec:
  repositoryDigestMirrors:
  - mirrors: [one.local/ocp, two.local:5000/ocp]
    source: quay.io/openshift-release-dev/ocp-release
`
const IDMS = (policy: string) => `apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata: {name: release}
spec:
  imageDigestMirrors:
  - mirrors: [one.local/ocp]
    source: quay.io/ocp
    mirrorSourcePolicy: ${policy}
`

describe('an ImageContentSourcePolicy', () => {
  test('is for digests: its mirrors in order, then the source', async () => {
    const some = await rules(ICSP)
    const name = 'quay.io/openshift-release-dev/ocp-release'
    expect(places(`${name}@${D}`, some)).toEqual([`one.local/ocp@${D}`, `two.local:5000/ocp@${D}`, `${name}@${D}`])
    expect(places(`${name}:4.15`, some)).toEqual([`${name}:4.15`])
    expect(places(`${name}-nightly@${D}`, some)).toEqual([`${name}-nightly@${D}`])
    expect(places(`${name}/below@${D}`, some)[0]).toBe(`one.local/ocp/below@${D}`)
  })

  test('may be one of a list, and JSON', async () => {
    const list = JSON.stringify({
      kind: 'List',
      items: [
        { kind: 'ImageContentSourcePolicy', spec: { repositoryDigestMirrors: [{ source: 'a.b', mirrors: ['c.d'] }] } },
      ],
    })
    expect(places(`a.b/x@${D}`, await rules(list))).toEqual([`c.d/x@${D}`, `a.b/x@${D}`])
  })
})

describe('mirror sets', () => {
  test('NeverContactSource leaves the source out', async () => {
    expect(places(`quay.io/ocp/r@${D}`, await rules(IDMS('NeverContactSource')))).toEqual([`one.local/ocp/r@${D}`])
    expect(places(`quay.io/ocp/r@${D}`, await rules(IDMS('AllowContactingSource')))).toHaveLength(2)
    expect(places('quay.io/ocp/r:1', await rules(IDMS('NeverContactSource')))).toEqual([])
  })

  test('of tags and of digests for one source stand in one file', async () => {
    const tags = `---
kind: ImageTagMirrorSet
metadata: {name: tags}
spec: {imageTagMirrors: [{source: quay.io/ocp, mirrors: [tags.local/ocp]}]}
`
    const some = await rules(IDMS('AllowContactingSource') + tags)
    expect(places('quay.io/ocp:1', some)).toEqual(['tags.local/ocp:1', 'quay.io/ocp:1'])
    expect(places(`quay.io/ocp@${D}`, some)).toEqual([`one.local/ocp@${D}`, `quay.io/ocp@${D}`])
  })
})

describe('a registries.conf', () => {
  test('the longest prefix counts, location moves the source', async () => {
    const some = await rules(`
unqualified-search-registries = ["example.com"]
[[registry]]
location = "quay.io"
[[registry.mirror]]
location = "all.local"
[[registry]]
prefix = "quay.io/ocp"
location = "moved.local/x"
[[registry.mirror]]
location = "digests.local/ocp"
pull-from-mirror = "digest-only"
[[registry.mirror]]
location = "tags.local/ocp"
pull-from-mirror = "tag-only"
`)
    expect(places('quay.io/other:1', some)).toEqual(['all.local/other:1', 'quay.io/other:1'])
    expect(places('quay.io/ocp/r:1', some)).toEqual(['tags.local/ocp/r:1', 'moved.local/x/r:1'])
    expect(places(`quay.io/ocp/r@${D}`, some)).toEqual([`digests.local/ocp/r@${D}`, `moved.local/x/r@${D}`])
  })

  test('mirror-by-digest-only, wildcards, and what is blocked', async () => {
    const some = await rules(`
[[registry]]
prefix = "*.example.com"
mirror-by-digest-only = true
[[registry.mirror]]
location = "m.local/all"
[[registry]]
location = "bad.io/x"
blocked = true
`)
    expect(places(`a.b.example.com/r@${D}`, some)).toEqual([`m.local/all/r@${D}`, `a.b.example.com/r@${D}`])
    expect(places('a.example.com/r:1', some)).toEqual(['a.example.com/r:1'])
    expect(places('example.com/r:1', some)).toEqual(['example.com/r:1'])
    expect(places('bad.io/x/y:1', some)).toEqual([])
  })
})

test.each([
  ['kind: Secret\n', /an object of the kind Secret/],
  ['kind: ImageDigestMirrorSet\nspec: {}\n', /no list spec\.imageDigestMirrors/],
  [IDMS('Sometimes'), /mirrorSourcePolicy "Sometimes"/],
  ['kind: ImageContentSourcePolicy\nspec: {repositoryDigestMirrors: [{mirrors: [a.b]}]}\n', /no source in/],
  [
    'kind: ImageContentSourcePolicy\nspec: {repositoryDigestMirrors: [{source: "a.b/c:tag", mirrors: []}]}\n',
    /no source in/,
  ],
  ['[[registry]]\n', /no usable prefix or location in \[\[registry\]\] 1/],
  [
    '[[registry]]\nlocation="a.b"\nmirror-by-digest-only=true\n[[registry.mirror]]\nlocation="c.d"\npull-from-mirror="all"\n',
    /both/,
  ],
  [
    '[[registry]]\nlocation="a.b"\n[[registry.mirror]]\nlocation="c.d"\npull-from-mirror="never"\n',
    /pull-from-mirror "never"/,
  ],
  ['[registry\n', /neither YAML with a kind nor TOML/],
  ['', /neither an object with a kind nor \[\[registry\]\]/],
])('the file %j is refused', async (text, message) => {
  await expect(rules(text)).rejects.toThrow(message)
  await expect(rules(text)).rejects.toMatchObject({ code: 'image-mirrors', kind: 'usage' })
})

describe('pulling', () => {
  const FILES = { a: 'A' }
  const readFrom = async (reference: string, some: readonly MirrorRule[]) => {
    const client = images({ mirrors: some, http: { limits: { connect: 500 } } })
    const opened = await client.open(parsePlace(reference))
    return {
      pullspec: opened.pullspec,
      text: (await client.files(await opened.image(), { paths: ['a'] })).get('a')?.toString(),
    }
  }

  test('comes from the mirror that has the image, and keeps the name of the source', async () => {
    await using empty = await registryServer()
    await using mirror = await registryServer()
    const digest = await putFiles(`${mirror.host}/ocp:1`, FILES)
    const some = await rules(ICSP.replace('one.local/ocp, two.local:5000/ocp', `${empty.host}/ocp, ${mirror.host}/ocp`))
    const name = `quay.io/openshift-release-dev/ocp-release@${digest}`
    expect(await readFrom(name, some)).toEqual({ pullspec: name, text: 'A' })
    expect(empty.seen.some(({ url }) => url.includes(digest))).toBe(true)
  })

  test('continues to the source, and tells of all that were asked where none has it', async () => {
    await using empty = await registryServer()
    await using source = await registryServer()
    const digest = await putFiles(`${source.host}/ocp:1`, FILES)
    const some = await rules(
      IDMS('AllowContactingSource').replace('one.local', empty.host).replace('quay.io', source.host),
    )
    expect(await readFrom(`${source.host}/ocp@${digest}`, some)).toMatchObject({ text: 'A' })
    const failure = await readFrom(`${source.host}/ocp@${D}`, some).catch((error: Error) => error.message)
    expect(failure).toMatch(/is at none of its mirrors/)
    for (const { host } of [empty, source]) expect(failure).toContain(host)
  })

  test('says of the registry of a cluster’s own nodes where it answers', async () => {
    await using source = await registryServer()
    const node = 'api-int.nowhere.invalid:22625'
    const some = await rules(IDMS('AllowContactingSource').replace('one.local', node).replace('quay.io', source.host))
    await expect(readFrom(`${source.host}/ocp@${D}`, some)).rejects.toMatchObject({
      remedy: `copy it to a registry or a folder that is reached here: ${node} answers in the network of its cluster alone`,
    })
  })

  test('a mirror with other bytes under the digest is passed over', async () => {
    await using bad = await registryServer()
    await using good = await registryServer()
    const digest = await putFiles(`${good.host}/ocp:1`, FILES)
    await putFiles(`${bad.host}/ocp:1`, { a: 'evil' })
    const { manifests } = bad.repositories.get('ocp')!
    manifests.set(digest, [...manifests.values()][0]!)
    const some = await rules(ICSP.replace('one.local/ocp, two.local:5000/ocp', `${bad.host}/ocp, ${good.host}/ocp`))
    expect(await readFrom(`quay.io/openshift-release-dev/ocp-release@${digest}`, some)).toMatchObject({ text: 'A' })
  })
})

describe('a folder', () => {
  const CATALOG = 'apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: cs}\nspec: {}\n'
  const ITMS = `apiVersion: config.openshift.io/v1
kind: ImageTagMirrorSet
metadata: {name: itms-generic-0}
spec:
  imageTagMirrors:
  - mirrors: [two.local/ocp]
    source: quay.io/ocp
`

  test('that oc-mirror has written: its mirror sets are read, its catalogs are not', async () => {
    const resources = join(folder, 'working-dir/cluster-resources')
    await mkdir(resources, { recursive: true })
    await writeFile(join(resources, 'idms-oc-mirror.yaml'), `---\n${IDMS('NeverContactSource')}`)
    await writeFile(join(resources, 'itms-oc-mirror.yaml'), `---\n${ITMS}`)
    await writeFile(join(resources, 'cs-redhat-operator-index-v4-22.yaml'), CATALOG)
    const { rules: some } = await readMirrors(folder, systemClock())
    expect(places(`quay.io/ocp/a@${D}`, some)).toEqual([`one.local/ocp/a@${D}`])
    expect(places('quay.io/ocp/a:4.22', some)).toEqual(['two.local/ocp/a:4.22'])
    expect(await readMirrors(resources, systemClock())).toEqual({ rules: some })
  })

  test('without a mirror set is refused', async () => {
    await writeFile(join(folder, 'cs.yaml'), CATALOG)
    await expect(readMirrors(folder, systemClock())).rejects.toThrow(
      /neither ImageContentSourcePolicy nor ImageDigestMirrorSet/,
    )
  })

  test.each<[string, string, RegExp]>([
    [
      'a mirror set that is cut off',
      ITMS.slice(0, ITMS.indexOf('.local')),
      /sets\.yaml has a mirror set and is not YAML/,
    ],
    ['a mirror set without its source', ITMS.replace('source: ', 'sauce: '), /sets\.yaml has no source in spec\.image/],
    ['too many levels', '['.repeat(10_000), /sets\.yaml is nested more than 500 levels deep/],
    [
      'aliases without end',
      Array.from({ length: 9 }, (_, at) => `a${at}: &a${at} [${at === 0 ? 'x' : `*a${at - 1},`.repeat(9)}]\n`).join(''),
      /sets\.yaml repeats itself by too many aliases/,
    ],
  ])('with %s is refused, by the name of the file', async (_, text, message) => {
    await writeFile(join(folder, 'idms.yaml'), IDMS('NeverContactSource'))
    await writeFile(join(folder, 'sets.yaml'), text)
    const refused = readMirrors(folder, systemClock())
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.toMatchObject({ code: 'image-mirrors', kind: 'usage' })
  })
})
