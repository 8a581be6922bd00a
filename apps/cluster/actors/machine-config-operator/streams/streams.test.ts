import { describe, expect, test } from 'vitest'
import { gzipSync } from 'node:zlib'
import { dataUrl } from '../../../../../ignition/index.js'
import { discoverStreams, streamLabels } from './discover-streams.js'
import { builtinStream } from './os-streams.js'
import { usesRunc } from './runc-check.js'

describe('the streams of a release image', () => {
  const { system, extensions } = streamLabels('rhel-10')
  const found = (labels: Record<string, Record<string, string>>) =>
    discoverStreams(
      { version: '5.0.0', manifests: [], imageReferences: Object.keys(labels).map((tag) => ({ tag, image: tag })) },
      { pull: async (image) => ({ labels: labels[image]! }) },
      new AbortController().signal,
    )

  test('are those of images with both labels, by name', async () => {
    const nine = streamLabels('rhel-9')
    expect(
      await found({
        'rhel-coreos-10': system,
        'rhel-coreos-10-extensions': extensions,
        'rhel-coreos': { ...nine.system, 'containers.bootc': 'TRUE' },
        'rhel-coreos-extensions': nine.extensions,
      }),
    ).toEqual([
      { name: 'rhel-10', osImage: 'rhel-coreos-10', osExtensionsImage: 'rhel-coreos-10-extensions' },
      { name: 'rhel-9', osImage: 'rhel-coreos', osExtensionsImage: 'rhel-coreos-extensions' },
    ])
  })

  test.each<[string, Record<string, Record<string, string>>]>([
    ['an image without its extensions', { 'rhel-coreos': system }],
    ['images of another name', { 'coreos-rhel': system, 'coreos-rhel-extensions': extensions }],
    ['images without the label of a stream', { 'rhel-coreos': { 'containers.bootc': '1' } }],
  ])('are none for %s', async (_, labels) => {
    expect(await found(labels)).toEqual([])
  })
})

test.each([
  ['4.22.1', 'rhel-9'],
  ['5.0.0', 'rhel-10'],
  ['4.21.0-0.okd-scos', 'centos-10'],
])('a cluster that was installed with %s runs %s', (version, stream) => {
  expect(builtinStream(version)).toBe(stream)
})

describe('runc', () => {
  const file = (name: string, text: string) => ({
    path: `/etc/crio/crio.conf.d/${name}`,
    contents: { source: dataUrl(text) },
  })
  const runtime = (name: string) => `[crio.runtime]\ndefault_runtime = "${name}"\n`
  const used = (...files: { path: string; contents: { source: string; compression?: string } }[]) =>
    usesRunc({ ignition: { version: '3.5.0' }, storage: { files } })

  test('is the runtime by the last file in the order of their names that names one', () => {
    expect(used(file('99-last', runtime('runc')), file('01-first', runtime('crun')))).toBe(true)
    expect(used(file('99-last', runtime('crun')), file('01-first', runtime('runc')))).toBe(false)
    expect(used(file('01-first', runtime('runc')), file('99-last', '[crio.runtime]\nlog_level = "info"\n'))).toBe(true)
  })

  test('is found in a compressed file, and not in files of other programs', () => {
    const source = `data:;base64,${gzipSync(runtime('runc')).toString('base64')}`
    expect(used({ path: '/etc/crio/crio.conf.d/01', contents: { source, compression: 'gzip' } })).toBe(true)
    expect(used({ ...file('x', runtime('runc')), path: '/etc/other/x' })).toBe(false)
  })

  test('of a file that is no TOML is an error that names the file', () => {
    expect(() => used(file('01', 'default_runtime = '))).toThrow('"/etc/crio/crio.conf.d/01"')
  })
})
