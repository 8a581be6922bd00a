import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { fedoraStream, rhelStream } from '../../test/kit/streams.js'
import { bootImagesText, readBootImages, streamNamed } from './config-map.js'
import { readMetadata } from './read-metadata.js'

const nine = rhelStream({ version: '9.6.20250826-1', name: 'rhel-9' })
const ten = rhelStream()
const images = { releaseVersion: '4.22.0', stream: nine, streams: { 'rhel-9': nine, 'rhel-10': ten } }

interface Yaml {
  metadata: { name: string; namespace: string; annotations: object }
  data: Record<string, string>
}

describe('row 37: the coreos-bootimages ConfigMap', () => {
  test('has its name, its annotations and both keys with JSON in them', () => {
    const { metadata, data } = parse(bootImagesText(images)) as Yaml
    expect(metadata).toEqual({
      name: 'coreos-bootimages',
      namespace: 'openshift-machine-config-operator',
      annotations: {
        'include.release.openshift.io/ibm-cloud-managed': 'true',
        'include.release.openshift.io/self-managed-high-availability': 'true',
        'include.release.openshift.io/single-node-developer': 'true',
      },
    })
    expect(Object.keys(data)).toEqual(['releaseVersion', 'stream', 'streams'])
    expect(JSON.parse(data['stream']!)).toEqual(nine)
    expect(JSON.parse(data['streams']!)).toEqual({ 'rhel-9': nine, 'rhel-10': ten })
  })

  test('is read back unchanged, from YAML and from JSON', () => {
    const text = bootImagesText(images)
    expect(readBootImages(text, 'map')).toEqual(images)
    expect(readBootImages(JSON.stringify(parse(text)), 'map')).toEqual(images)
    expect(readMetadata(text, 'map')).toEqual({ kind: 'config-map', value: images })
  })

  test('streams are found by key or by their own name', () => {
    expect(streamNamed(images)).toBe(nine)
    expect(streamNamed(images, 'rhel-10')).toBe(ten)
    expect(streamNamed(images, 'rhcos-4.22')).toBe(ten)
    expect(() => streamNamed(images, 'rhel-8')).toThrow(expect.objectContaining({ remedy: 'there is rhel-9, rhel-10' }))
  })

  test('an older ConfigMap has only one stream', () => {
    const old = { releaseVersion: '4.8.0', stream: fedoraStream(), streams: null }
    expect(readBootImages(bootImagesText(old), 'map')).toEqual(old)
  })

  test.each([
    ['{', /map is not YAML/],
    ['kind: Secret\ndata: {stream: x}', /kind must be equal to constant/],
    ['kind: ConfigMap\ndata: {}', /data has no stream/],
    ['kind: ConfigMap\ndata: {stream: "no"}', /data.stream in map is not JSON/],
    [bootImagesText({ ...images, streams: { 'rhel-10': ten } }), /map contradicts itself: its stream rhel-9 of/],
    [stringify({ kind: 'ConfigMap', data: { stream: JSON.stringify(nine), streams: '{}' } }), /must NOT have fewer/],
  ])('a wrong ConfigMap is refused (case %#)', (text, message) => {
    expect(() => readBootImages(text, 'map')).toThrow(message)
  })
})
