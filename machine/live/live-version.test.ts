import { expect, test } from 'vitest'
import { liveVersion, releaseVersion, volumeVersion } from './live-version.js'

const A = '38.20230718.3.0'

test.each([
  [`mitigations=auto coreos.liveiso=fedora-coreos-${A} ignition.firstboot`, A],
  ['coreos.liveiso=rhcos-418.94.202501221327-0', '418.94.202501221327-0'],
  ['coreos.liveiso=fake-coreos-99', '99'],
  ['ignition.firstboot', null],
])('%s is of version %s', (kargs, version) => {
  expect(liveVersion(kargs)).toBe(version)
})

test.each([
  [`fedora-coreos-${A}`, A],
  ['rhcos-9.6.20260112-0', '9.6.20260112-0'],
  ['IPA', null],
])('a volume %s is of version %s', (volume, version) => {
  expect(volumeVersion(volume)).toBe(version)
})

test.each([
  [`NAME="Fedora Linux"\nOSTREE_VERSION='${A}'\n`, A],
  ['OSTREE_VERSION="9.6.20260112-0"', '9.6.20260112-0'],
  ['VERSION=1', null],
])('a release file %j is of version %s', (text, version) => {
  expect(releaseVersion(text)).toBe(version)
})
