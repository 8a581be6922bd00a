import { fidelityMutants } from './fidelity-mutant.js'

const ORDER = { file: 'machine/boot/boot-order.ts' }
const INSTALLER = { file: 'machine/programs/coreos-installer/coreos-installer.ts' }
const PARAMETERS = { file: 'machine/live/removable-parameters.ts' }

/** Rows of the machine. */
export const MACHINE_MUTANTS = fidelityMutants('machine', [
  {
    row: 'A config that takes root, boot or the boot loader',
    does: 'does not notice',
    file: 'machine/ignition/boot-needs.ts',
    from: 'before.filter(({ isThere }) => !isThere(devices))',
    to: 'before.filter(({ isThere }) => isThere(devices) && !isThere(devices))',
  },
  {
    row: 'A ramdisk mounts ext, XFS, FAT',
    does: 'mounts XFS',
    file: 'machine/programs/files/mount.ts',
    from: "if (!type.startsWith('ext') && type !== 'vfat')",
    to: "if (!type.startsWith('ext') && type !== 'vfat' && type !== 'xfs')",
  },
  {
    row: 'The ramdisk is a whole CoreOS',
    does: 'says that a program cannot be executed',
    file: 'machine/ramdisk/ramdisk-session.ts',
    from: 'if (!program) return { exitCode: 127,',
    to: 'if (!program) return { exitCode: 126,',
  },
  {
    row: 'A boot script that reboots its machine',
    does: 'boots its disk',
    file: 'machine/network/ipxe.ts',
    from: "throw new Ended({ kind: 'next', why: 'the boot script asks for a reboot' })",
    to: "throw new Ended({ kind: 'disk' })",
  },
  {
    ...ORDER,
    row: 'Firmware waits for DHCP',
    does: 'tries them',
    from: "return bootScript === undefined ? [] : [{ kind: 'network', nic, bootScript }]",
    to: "return [{ kind: 'network', nic, bootScript: bootScript ?? 'tftp://192.0.2.1/none' }]",
  },
  {
    ...ORDER,
    row: 'A virtual floppy can be bootable',
    does: 'boots the floppy',
    from: 'return orNothing([], target, parts)',
    to: "return orNothing(ofDrive('virtual floppy' as 'virtual CD', firmware), target, parts)",
  },
  {
    ...PARAMETERS,
    row: 'Virtual sticks and floppies are block devices',
    does: 'keeps words without a value',
    from: 'return at < 0 ? [] : [[word.slice(0, at), word.slice(at + 1)] as const]',
    to: "return at < 0 ? [[word, ''] as const] : [[word.slice(0, at), word.slice(at + 1)] as const]",
  },
  {
    row: 'The first boot gives the disk a GUID',
    does: 'leaves the GUID of the image',
    file: 'machine/disk/gpt-setup.ts',
    from: 'diskGuid: randomUuid(random)',
    to: 'diskGuid: gpt.diskGuid',
  },
  {
    row: 'Ignition and the root filesystem',
    does: 'goes on without it',
    file: 'machine/live/live-ignition.ts',
    from: "throw new BootFailed('emergency shell', `Ignition failed: ${why}`, error)",
    to: 'return NO_LIVE_IGNITION',
  },
  {
    row: 'UEFI starts the loader file',
    does: 'takes the disks in their order alone',
    file: 'machine/boot/bootable.ts',
    from: 'for (const number of efi.order) {',
    to: 'for (const number of efi.order.slice(0, 0)) {',
  },
  {
    row: 'A first boot that fails ends in an emergency shell',
    does: 'has the next boot be no first one',
    file: 'machine/boot/disk-boot.ts',
    from: 'if (bootable.firstBoot) {',
    to: 'if (!bootable.firstBoot) {',
  },
  {
    row: 'An image has the accounts of its packages',
    does: 'has no group docker',
    file: 'machine/root/release-accounts.ts',
    from: "      ['docker', 985],\n",
    to: '',
  },
])

/** Rows of coreos-installer. */
export const INSTALLER_MUTANTS = fidelityMutants('coreos-installer', [
  {
    ...INSTALLER,
    row: 'Subcommands `download`, `iso`, `pxe`, `pack`',
    does: 'says nothing of it',
    from: 'throw new Failure(`${name} is not simulated; the image service embeds configs into live images`)',
    to: 'throw new Failure(`${name}: nothing to do`)',
  },
  {
    row: 'A signature is verified by gpg',
    does: 'believes it without a word',
    file: 'machine/programs/coreos-installer/source/installer-signature.ts',
    from: ' not verified, since a simulation has no keys',
    to: '',
  },
  {
    row: 'An xz image may ask for a dictionary',
    does: 'lets it ask for any',
    file: 'base/bytes/compression/decompress-xz.ts',
    from: 'this.#coder.streamDecoder({ memlimit: MAX_XZ_MEMORY })',
    to: 'this.#coder.streamDecoder({ memlimit: MAX_XZ_MEMORY * 1024 })',
  },
  {
    row: 'Embed areas of a live ISO may overlap',
    does: 'lets them',
    file: 'coreos/live/live-iso.ts',
    from: '      throw new LiveImageError(`embed areas overlap:',
    to: '      void new LiveImageError(`embed areas overlap:',
  },
  {
    row: 'Of `HTTP_PROXY` and `http_proxy`',
    does: 'takes the one in capitals',
    file: 'base/bytes/http/proxy.ts',
    from: "variables[name] || variables[name.toUpperCase()] || ''",
    to: "variables[name.toUpperCase()] || variables[name] || ''",
  },
  {
    row: 'Archives decompress to any size',
    does: 'lets them',
    file: 'coreos/live/initramfs.ts',
    from: 'if (unpacked > limits.unpacked)',
    to: 'if (unpacked > limits.unpacked * 1e9)',
  },
])

/** Rows of steps on a simulated machine. */
export const SIMULATED_STEP_MUTANTS = fidelityMutants('steps-on-a-machine', [
  {
    row: 'An array keeps running when its superblocks',
    does: 'survives two lost members of RAID 6',
    file: 'machine/disk/md-device.ts',
    from: '    case 6:\n      return missing <= 1',
    to: '    case 6:\n      return missing <= 2',
  },
])

/** Rows of machines behind SSH. */
export const SSH_MUTANTS = fidelityMutants('ssh-machines', [
  {
    row: 'An unknown host key may be accepted',
    does: 'accepts it',
    file: 'targets/ssh/host-keys.ts',
    from: "if (verdict.kind === 'known') return 'trusted'",
    to: "if (verdict.kind === 'known' || verdict.kind === 'unknown') return 'trusted'",
  },
  {
    row: '`ProxyCommand`, `Match exec`',
    does: 'takes no notice of a ProxyCommand',
    file: 'targets/ssh/host-settings.ts',
    from: "  refuse(values.first('proxycommand'), address.host)\n",
    to: '',
  },
  {
    row: "sudo's password is piped to it blindly",
    does: 'sends it again',
    file: 'targets/ssh/sudo.ts',
    from: 'if (++asked > 1) {',
    to: 'if (++asked > 2) {',
  },
  {
    row: 'Certificates of hosts are checked',
    does: 'takes any authority',
    file: 'targets/ssh/host-keys.ts',
    from: "if (verdict.kind === 'unknown') return",
    to: "if (verdict.kind === ('never' as string)) return",
  },
  {
    row: 'A node is active once its machine was asked to boot',
    does: 'takes the live system for the installed one',
    file: 'targets/ssh/verify-boot.ts',
    from: 'if (bootId !== null && bootId === before?.identity.bootId) return STILL_OLD',
    to: 'if (bootId !== null && bootId !== before?.identity.bootId) return STILL_OLD',
  },
  {
    row: "Any machine with the host's key",
    does: 'takes another container for the same host',
    file: 'targets/ssh/ssh-identity.ts',
    from: "if (system === false) return boot === true ? 'other' :",
    to: "if (system === false) return boot === true ? 'same' :",
  },
])

/** Rows of streams, and of the image of CoreOS in a release. */
export const STREAM_MUTANTS = fidelityMutants('streams', [
  {
    row: '`coreos-installer download` never looks at the digests',
    does: 'takes no file without a signature',
    file: 'apps/runs/downloads/downloads.ts',
    from: "signature: artifact.signature && !insecure ? 'required' : 'where present'",
    to: "signature: insecure ? 'where present' : 'required'",
  },
  {
    row: 'Metadata and files are asked for by http',
    does: 'asks anywhere',
    file: 'coreos/download-policy.ts',
    from: "if (protocol !== 'https:' && !insecure && !isLoopback(hostname))",
    to: "if (protocol === 'ftp:' && !insecure && !isLoopback(hostname))",
  },
  {
    row: 'On x86_64 `copy-metal` makes links for aarch64',
    does: 'makes links for aarch64 too',
    file: 'coreos/machine-os/copy-metal.ts',
    from: "? ['', `_${architecture}`] : [`_${iso.architecture}`])",
    to: "? ['', `_${architecture}`, '_aarch64'] : [`_${iso.architecture}`])",
  },
  {
    row: 'podman, skopeo and oc run the credential helpers',
    does: 'does not name the helper',
    file: 'base/registry/access/registry-credentials.ts',
    from: 'return { credentials: null, ...defined({ helper }) }',
    to: 'return { credentials: null, ...defined({ helper: helper && undefined }) }',
  },
])
