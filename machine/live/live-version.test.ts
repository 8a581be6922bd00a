import { expect, test } from 'vitest'
import { liveVersion } from './live-version.js'

const A = '38.20230718.3.0'

test.each([
  [`mitigations=auto coreos.liveiso=fedora-coreos-${A} ignition.firstboot`, A],
  ['coreos.liveiso=rhcos-418.94.202501221327-0', '418.94.202501221327-0'],
  ['coreos.liveiso=fake-coreos-99', '99'],
  ['ignition.firstboot', null],
])('%s is of version %s', (kargs, version) => {
  expect(liveVersion(kargs)).toBe(version)
})
