import { expect, test } from 'vitest'
import type { ReleaseManifest } from '../../site/site-releases.js'
import { isOlder } from './release-version.js'
import { runLevels, groupUnordered } from './run-levels.js'

const manifest = (name: string): ReleaseManifest => ({
  name,
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'x' }, data: {} },
})
const NAMES = [
  '0000_80_machine-config_05_osimageurl.yaml',
  '0000_30_machine-api-operator_12_clusteroperator.yaml',
  '0000_31_cluster-baremetal-operator_01_images.configmap.yaml',
  '0000_30_other_01_x.yaml',
  'image-references',
  '0000_30_machine-api-operator_01_images.configmap.yaml',
]

test('manifests are sorted into run levels, and in each by component', () => {
  const shown = runLevels(NAMES.map(manifest)).map((level) =>
    level.map(({ name, manifests }) => `${name}: ${manifests.length}`),
  )
  expect(shown).toEqual([
    ['0000_30_machine-api-operator: 2', '0000_30_other: 1'],
    ['0000_31_cluster-baremetal-operator: 1'],
    ['0000_80_machine-config: 1'],
    ['image-references: 1'],
  ])
})

test('without an order all are one level', () => {
  expect(groupUnordered(NAMES.map(manifest))).toHaveLength(1)
})

test.each([
  ['4.9.0', '4.10.0', true],
  ['4.10.0', '4.9.9', false],
  ['4.10.0', '4.10.0', false],
  ['4.10.0-rc.2', '4.10.0', true],
  ['4.10.0', '4.10.0-rc.2', false],
  ['4.10.0-rc.2', '4.10.0-rc.10', true],
  ['4.10.0-ec.1', '4.10.0-rc.0', true],
  ['4.10.0-rc', '4.10.0-rc.1', true],
  ['4.10.0-1', '4.10.0-rc', true],
  ['4.10.0+build', '4.10.0', false],
  ['soon', '4.10.0', false],
])('%s is older than %s: %s', (one, other, is) => {
  expect(isOlder(one, other)).toBe(is)
})
