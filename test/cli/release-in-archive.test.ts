import { readFile, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { registryServer, type RegistryServerHandle } from '../kit/registry/registry-server.js'
import { releaseParts, type ReleaseParts } from '../kit/registry/release-parts.js'
import { IMAGE_SET_CONFIG, sequenceEntries, storedEntries, writeParts } from '../kit/registry/mirror-archives.js'

/** `--mirrors` with the disk archive of `oc-mirror ... file://`. */

const SOURCE = 'quay.io/openshift-release-dev/ocp-release'

let parts: ReleaseParts
let registry: RegistryServerHandle
let digest: string
let folder: string
beforeEach(async () => {
  parts = await releaseParts()
  registry = await registryServer()
  const { stdout } = await parts.write(`${registry.host}/release:4.22.0-x86_64`, ...parts.stream)
  digest = stdout.trim().split('@')[1]!
  folder = parts.at('archive')
})
afterEach(async () => {
  await registry[Symbol.asyncDispose]()
  await parts[Symbol.asyncDispose]()
})

const printed = (image: string, mirrors = folder) =>
  parts.ran('stream', 'print', image, '--mirrors', mirrors, '--offline')
const stream = async (): Promise<unknown> => JSON.parse(await readFile(parts.at('stream.json'), 'utf8')) as unknown

describe('the archive of oc-mirror v2', () => {
  /** Two parts, as of an archive that is split. */
  async function stored(): Promise<void> {
    const entries = storedEntries(registry, 'release', 'openshift/release-images')
    const half = Math.floor(entries.length / 2)
    await writeParts(folder, {
      'mirror_000001.tar': entries.slice(0, half),
      'mirror_000002.tar': [...entries.slice(half), IMAGE_SET_CONFIG],
    })
  }

  test('has a release by its digest and by its tag, without any registry', async () => {
    await stored()
    for (const image of [`${SOURCE}@${digest}`, `${SOURCE}:4.22.0-x86_64`]) {
      const { code, stdout, stderr } = await printed(image)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout)).toEqual(await stream())
    }
    const byPart = await printed(`${SOURCE}@${digest}`, join(folder, 'mirror_000001.tar'))
    expect(byPart.code).toBe(0)
  })

  test('has mirror sets for what it does not have', async () => {
    const source = 'release.invalid/ocp'
    const entries = storedEntries(registry, 'release', 'openshift/release-images')
    const sets = `kind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [{source: "${source}", mirrors: ["${registry.host}/release"]}]}\n`
    await writeParts(folder, {
      'mirror_000001.tar': [
        entries[0]!,
        { name: 'working-dir/cluster-resources/idms-oc-mirror.yaml', content: Buffer.from(sets) },
        IMAGE_SET_CONFIG,
      ],
    })
    const found = await parts.ran('stream', 'print', `${source}@${digest}`, '--mirrors', folder)
    expect(found).toMatchObject({ code: 0, stderr: '' })
    const missing = await parts.ran('stream', 'print', `${source}@sha256:${'a'.repeat(64)}`, '--mirrors', folder)
    expect(missing.stderr).toContain(`the archive ${folder} does not have it; `)
  })

  test.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'that lacks a part in the middle',
      () => rename(join(folder, 'mirror_000002.tar'), join(folder, 'mirror_000003.tar')),
      /archive lacks the part mirror_000002\.tar: mirror_000003\.tar is there/,
    ],
    [
      'that lacks its first part',
      () => rename(join(folder, 'mirror_000001.tar'), join(folder, 'other.tar')),
      /archive lacks the part mirror_000001\.tar: mirror_000002\.tar is there/,
    ],
    [
      'that lacks its last part',
      () => rename(join(folder, 'mirror_000002.tar'), join(folder, 'other.tar')),
      /archive lacks its end: no image set configuration is in mirror_000001\.tar, so parts after mirror_000001\.tar are missing/,
    ],
    [
      'that is cut off in an entry',
      () => truncate(join(folder, 'mirror_000002.tar'), 3000),
      /archive\/mirror_000002\.tar is cut off: its end is missing/,
    ],
    [
      'with an empty part',
      () => writeFile(join(folder, 'mirror_000002.tar'), ''),
      /mirror_000002\.tar is cut off: it is empty/,
    ],
    [
      'that is no tar',
      () =>
        writeFile(
          join(folder, 'mirror_000002.tar'),
          Buffer.concat([Buffer.from('x'.repeat(2048)), Buffer.alloc(1024)]),
        ),
      /mirror_000002\.tar cannot be read: this is not a tar archive, or a damaged one/,
    ],
  ])('%s is refused in a sentence', async (_, damage, message) => {
    await stored()
    await damage()
    const { code, stdout, stderr } = await printed(`${SOURCE}@${digest}`)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.match(/^ironstage:/gm)).toHaveLength(1)
  })

  test('with a blob that was changed is noticed', async () => {
    await stored()
    const path = join(folder, 'mirror_000002.tar')
    const bytes = await readFile(path)
    const at = bytes.indexOf(registry.repositories.get('release')!.blobs.values().next().value!.subarray(0, 32))
    bytes[at + 40]! ^= 1
    await writeFile(path, bytes)
    const { code, stderr } = await printed(`${SOURCE}@${digest}`)
    expect(code).not.toBe(0)
    expect(stderr).toContain('archive')
  })
})

describe('the archive of oc-mirror v1', () => {
  test('has a release by its digest and by its tag', async () => {
    const entries = sequenceEntries(registry, 'release', 'openshift/release-images')
    await writeParts(folder, {
      'mirror_seq1_000000.tar': entries.slice(0, 3),
      'mirror_seq1_000001.tar': entries.slice(3),
    })
    for (const image of [`${SOURCE}@${digest}`, `${SOURCE}:4.22.0-x86_64`])
      expect(JSON.parse((await printed(image)).stdout)).toEqual(await stream())
  })

  test('of a later sequence alone names those that come before it', async () => {
    const entries = sequenceEntries(registry, 'release', 'openshift/release-images')
    const blobs = entries.filter(({ name }) => !name.startsWith('blobs/'))
    await writeParts(folder, { 'mirror_seq2_000000.tar': blobs })
    const { code, stderr } = await printed(`${SOURCE}@${digest}`)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/archive has no sha256:[a-f\d]+: it may be in the sequences before mirror_seq2/)
  })

  test('that lacks its first part is refused', async () => {
    await writeParts(folder, {
      'mirror_seq1_000001.tar': sequenceEntries(registry, 'release', 'openshift/release-images'),
    })
    expect((await printed(`${SOURCE}@${digest}`)).stderr).toMatch(/lacks the part mirror_seq1_000000\.tar/)
  })
})
