import { createHash } from 'node:crypto'
import { defined } from '../../base/runtime/index.js'
import type { BuildMeta } from '../../coreos/index.js'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Metadata of a CoreOS build; its files need not exist. */
export function buildMeta(
  architecture: string,
  {
    name = 'fedora-coreos',
    version = '38.20230718.3.0',
    stream = 'stable',
    more = {} as Partial<BuildMeta>,
    digests = {} as Record<string, string>,
  } = {},
): BuildMeta {
  const compression = name === 'fedora-coreos' ? 'xz' : 'gz'
  const file = (kind: string, suffix: string) => {
    const path = `${name}-${version}-${kind}.${architecture}${suffix}`
    return { path, sha256: digests[kind] ?? digest(path), size: 1000 }
  }
  const packed = (kind: string, suffix: string) => ({
    ...file(kind, `${suffix}.${compression}`),
    'uncompressed-sha256': digest(`${kind} ${architecture} ${version}`),
    'uncompressed-size': 5000,
  })
  return {
    buildid: version,
    name,
    'ostree-commit': digest(`tree ${architecture} ${version}`),
    'ostree-timestamp': '2023-07-18T01:02:03Z',
    'ostree-version': version,
    'coreos-assembler.basearch': architecture,
    'coreos-assembler.container-config-git': {
      branch: stream,
      commit: 'c0ffee0',
      origin: 'https://example.org/config',
    },
    images: {
      ostree: file('ostree', '.ociarchive'),
      metal: packed('metal', '.raw'),
      metal4k: packed('metal4k', '.raw'),
      openstack: packed('openstack', '.qcow2'),
      qemu: packed('qemu', '.qcow2'),
      ...defined({ vmware: architecture === 'x86_64' ? file('vmware', '.ova') : undefined }),
      aws: packed('aws', '.vmdk'),
      'live-iso': file('live-iso', '.iso'),
      'live-kernel': file('live-kernel', ''),
      'live-initramfs': file('live-initramfs', '.img'),
      'live-rootfs': file('live-rootfs', '.img'),
    },
    amis: [
      { name: 'us-east-1', hvm: `ami-${architecture.slice(0, 3)}1`, snapshot: 'snap-1' },
      { name: 'eu-west-1', hvm: `ami-${architecture.slice(0, 3)}2`, snapshot: 'snap-2' },
    ],
    ...more,
  }
}
