import { describe, expect, test } from 'vitest'
import { buildMeta } from '../../test/kit/builds.js'
import { metaToRelease } from './meta-to-release.js'
import { releaseToStream } from './release-to-stream.js'
import { ami, cloudImage, findDiskArtifact, liveFiles, releaseOf } from './stream-lookup.js'

const ARCHITECTURES = ['x86_64', 'aarch64', 'ppc64le', 's390x']
const RHCOS = { name: 'rhcos', version: '10.2.20260715-0', stream: 'rhel-10.2' }
const builds = ARCHITECTURES.map((architecture) => buildMeta(architecture, RHCOS))
const stream = releaseToStream(metaToRelease(builds, { signatures: false }), {
  name: 'rhcos-4.22',
  now: '2026-07-16T23:16:30Z',
})

describe('row 39: lookups for a manual installation', () => {
  test('a disk image by platform and format, an AMI by region', () => {
    expect(findDiskArtifact(stream, 'x86_64', 'openstack', 'qcow2.gz').sha256).toBe(
      builds[0]!.images!['openstack']!.sha256,
    )
    expect(ami(stream, 'aarch64', 'eu-west-1')).toBe('ami-aar2')
    expect(releaseOf(stream, 's390x')).toBe('10.2.20260715-0')
  })

  test.each([
    [
      () => findDiskArtifact(stream, 'riscv64', 'metal', 'iso'),
      "stream:rhcos-4.22 does not have architecture 'riscv64'",
    ],
    [() => findDiskArtifact(stream, 's390x', 'vmware', 'ova'), "rhcos-4.22/s390x: artifact 'vmware' not found"],
    [
      () => findDiskArtifact(stream, 'x86_64', 'metal', 'raw.xz'),
      "rhcos-4.22/x86_64: artifact 'metal' format 'raw.xz' disk not found",
    ],
    [
      () => findDiskArtifact(stream, 'x86_64', 'metal', 'pxe'),
      "rhcos-4.22/x86_64: artifact 'metal' format 'pxe' disk not found",
    ],
    [
      () => findDiskArtifact(stream, 'constructor', 'metal', 'iso'),
      "stream:rhcos-4.22 does not have architecture 'constructor'",
    ],
    [() => findDiskArtifact(stream, 'x86_64', 'toString', 'iso'), "rhcos-4.22/x86_64: artifact 'toString' not found"],
    [() => ami(stream, 'x86_64', 'mars-1'), 'rhcos-4.22/x86_64: No AWS images in region mars-1'],
    [() => cloudImage(stream, 'x86_64', 'aliyun', 'cn-1'), 'rhcos-4.22/x86_64: No Aliyun images'],
  ])('the words of the library: %#', (look, message) => {
    expect(look).toThrow(message)
  })

  test('an error lists the existing names', () => {
    const look = () => findDiskArtifact(stream, 'x86_64', 'metal', 'raw.xz')
    expect(look).toThrow(expect.objectContaining({ remedy: 'it has 4k.raw.gz, iso, pxe, raw.gz', kind: 'usage' }))
  })
})

describe('row 3: which live ISO is for which architecture', () => {
  test.each(ARCHITECTURES)('%s has its own', (architecture) => {
    const { release, iso, kernel, initramfs, rootfs } = liveFiles(stream, architecture)
    const { images } = builds.find((build) => build['coreos-assembler.basearch'] === architecture)!
    expect(release).toBe('10.2.20260715-0')
    expect([iso, kernel, initramfs, rootfs].map(({ sha256 }) => sha256)).toEqual(
      ['live-iso', 'live-kernel', 'live-initramfs', 'live-rootfs'].map((name) => images![name]!.sha256),
    )
  })
  test('an error about a missing architecture lists the existing ones', () => {
    const look = () => liveFiles(stream, 'riscv64')
    expect(look).toThrow("stream:rhcos-4.22 does not have architecture 'riscv64'")
    expect(look).toThrow(expect.objectContaining({ remedy: 'it has aarch64, ppc64le, s390x, x86_64' }))
  })
})
