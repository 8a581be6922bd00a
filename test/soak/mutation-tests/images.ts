import type { Mutant } from './mutant.js'

const COPY = { file: 'coreos/machine-os/copy-iso.ts', test: 'coreos/machine-os/machine-os.test.ts' }
const PXE = { ...COPY, file: 'coreos/machine-os/copy-pxe.ts' }
const METAL = { ...COPY, file: 'coreos/machine-os/copy-metal.ts' }
const VERIFY = { ...COPY, file: 'coreos/machine-os/verify.ts' }
const POLICY = { file: 'coreos/download-policy.ts', test: 'apps/runs/downloads/downloads.test.ts' }

/** The images of a release, and how they come to a cluster. */
export const IMAGE_MUTANTS: readonly Mutant[] = [
  {
    ...COPY,
    row: '000 "used e.g. as an init container',
    does: 'copies the ISO of one architecture only',
    from: 'for (const iso of isos) await',
    to: 'for (const iso of isos.slice(0, 1)) await',
    title: 'copy-iso copies every ISO with its digest, for other architectures than the host’s too',
  },
  {
    ...COPY,
    row: '000 an init container runs at every start',
    does: 'copies again what is there',
    from: '=== iso.sha256 && (await',
    to: "=== 'other' && (await",
    title: 'a second run copies nothing, a new ISO is copied',
  },
  {
    ...PXE,
    row: '000 "`coreos-installer iso extract pxe`',
    does: 'leaves the root filesystem out',
    from: "['vmlinuz', 'initrd.img', 'rootfs.img'] as const",
    to: "['vmlinuz', 'initrd.img'] as const",
    title: 'row 2: copy-pxe extracts the three files byte for byte, and unpacks the kernel of arm machines',
  },
  {
    ...METAL,
    row: '000 "a HostPath volume',
    does: 'links under another name',
    from: '`${AGENT_LINK}${name}.${kind}`',
    to: '`agent${name}.${kind}`',
    title: 'copy-metal links everything by the names that Ironic’s images have',
  },
  {
    ...METAL,
    row: '000 "a live ISO (for hosts that can use virtualmedia)',
    does: 'copies the ISO in any case',
    from: 'if (built) await copyIso',
    to: 'await copyIso',
    title: 'copy-metal --pxe copies no ISO; --image-build copies only the ISO and the initramfs',
  },
  {
    ...VERIFY,
    row: '000 "the expected SHA256 hashes',
    does: 'takes every root filesystem for right',
    from: 'if (found === expected) return',
    to: "if (found === expected && kind !== 'rootfs') return",
    title: 'ISO, kernel, initramfs and root filesystem, as they were published',
  },
  {
    ...VERIFY,
    row: '000 "bit-for-bit identical',
    does: 'compares a customised ISO as it is',
    from: 'if (reset === iso.sha256)',
    to: 'if (found === iso.sha256)',
    title: 'row 5: a customised ISO is checked in its published form, bit for bit',
  },
  {
    ...VERIFY,
    row: '000 the same: what is not the correct image is refused',
    does: 'looks at no digest',
    from: "if (found === iso.sha256) return { path, ok: true, what: 'as published' }",
    to: "if (found.length === 64) return { path, ok: true, what: 'as published' }",
    test: 'test/cli/machine-os.test.ts',
    title: 'row 4: verify refuses a flipped byte',
  },
  {
    ...POLICY,
    row: '000 "built in an offline environment',
    does: 'asks the origin in place of the mirror',
    from: 'mirror === undefined ? location : mirroredUrl(mirror, location)',
    to: 'location',
    title: 'disconnected: stream and files come from the mirror alone',
  },
  {
    ...POLICY,
    row: '000 a disconnected mirror must not',
    does: 'follows the mirror to other servers',
    from: 'if (mirror !== undefined && !isUnderMirror(mirror, url))',
    to: 'if (false as boolean)',
    title: 'a mirror that redirects elsewhere is refused before another server is asked',
  },
  {
    row: '000 "uploading the ISOs to the lookaside cache"',
    does: 'leaves the digest of a mirrored file out',
    file: 'apps/runs/downloads/downloads.ts',
    test: 'apps/runs/downloads/downloads.test.ts',
    from: '    sha256: artifact.sha256,\n',
    to: '',
    title: 'row 6: the same checksum check for the origin and for a mirror',
  },
  {
    row: '000 "ensure that the latest ISO',
    does: 'leaves the link where it was',
    file: 'coreos/metadata/stream-folder.ts',
    test: 'coreos/metadata/stream-folder.test.ts',
    from: 'await replaceLink(file, join(folder, `${name}.json`))',
    to: 'await readFile(join(folder, file))',
    title: 'each publication stays, and the link points to the last one',
  },
  {
    row: '000 "allow working with different versions',
    does: 'serves the oldest version that is asked for',
    file: 'ignition/accept.ts',
    test: 'ignition/accept.test.ts',
    from: 'newest === null ? named : newerOf(newest, named)',
    to: 'newest ?? named',
    title: '%s asks for %s',
  },
]
