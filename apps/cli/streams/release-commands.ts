import { defineCommand, type TableCommand } from '../command-shape.js'
import * as takes from '../options/option-lists.js'
import type { CommandOptionName } from '../options/resolve-options.js'
import { PLATFORM_WORDS } from '../options/value-words.js'

const RELEASE_IMAGE = 'REGISTRY/REPO:TAG or @DIGEST, or oci:DIR[:TAG]'
const RELEASE = 'REGISTRY/REPO:TAG or @DIGEST, oci:DIR[:TAG], or folder with an unpacked release'

/** Commands for releases of a cluster: their boot images, the release itself, and the image of CoreOS in it. */
export const RELEASE_COMMANDS: readonly TableCommand<CommandOptionName>[] = [
  defineCommand({
    usage: 'boot-image generate [RELEASE] PLATFORM',
    description: 'print where a boot image is, or fetch and customise it',
    operands: { RELEASE: `${RELEASE} (default: --stream)`, PLATFORM: PLATFORM_WORDS.join(', ') },
    options: takes.BOOT_IMAGE_GENERATE_OPTIONS,
    descriptions: {
      stream: 'name, URL or file of a stream (default: stable)',
      'builds-url': 'URL of the published builds of the release',
      directory: 'fetch the files into this folder',
    },
    load: async () => {
      const { bootImageGenerate } = await import('./boot-image-actions.js')
      return (options, { environment, operands }) => {
        const [release, platform] = operands.length > 1 ? operands : [undefined, operands[0]]
        return bootImageGenerate(options, environment, release, platform ?? '(no platform)')
      }
    },
  }),
  defineCommand({
    usage: 'boot-image info RELEASE',
    description: 'print the boot images of a release and the differences between its sources',
    operands: { RELEASE },
    options: takes.BOOT_IMAGE_INFO_OPTIONS,
    descriptions: { 'builds-url': 'URL of the published builds of the release', 'insecure-fetch': 'accept http' },
    load: async () => {
      const { bootImageReport } = await import('./boot-image-actions.js')
      return (options, { environment, operands: [release = ''] }) => bootImageReport(options, environment, release)
    },
  }),
  defineCommand({
    usage: 'release write DEST',
    description: 'make a release image, with machine-os-content beside it, and print its pullspec',
    operands: { DEST: 'REGISTRY/REPO[:TAG] or oci:DIR[:TAG] (default tag: the version)' },
    options: takes.RELEASE_WRITE_OPTIONS,
    required: ['version'],
    descriptions: { version: 'version of the release, such as 4.15.0', 'insecure-fetch': 'accept http' },
    load: async () => {
      const { releaseWrite } = await import('./release-actions.js')
      return (options, { environment, operands: [place = ''] }) => releaseWrite(options, environment, place)
    },
  }),
  defineCommand({
    usage: 'release info RELEASE',
    description: 'print the version, components and manifests of a release',
    operands: { RELEASE: RELEASE_IMAGE },
    options: takes.RELEASE_INFO_OPTIONS,
    descriptions: { 'insecure-fetch': 'accept http' },
    load: async () => {
      const { releaseInfo } = await import('./release-actions.js')
      return (options, { environment, operands: [place = ''] }) => releaseInfo(options, environment, place)
    },
  }),
  defineCommand({
    usage: 'machine-os build DIR',
    description: 'fill the folder from which the container image is built',
    operands: { DIR: 'folder to fill' },
    options: takes.MACHINE_OS_BUILD_OPTIONS,
    required: ['stream'],
    load: async () => {
      const { machineOsBuild } = await import('./machine-os-actions.js')
      return (options, { environment, operands: [folder = ''] }) => machineOsBuild(options, environment, folder)
    },
  }),
  defineCommand({
    usage: 'machine-os copy-iso DEST',
    description: 'copy the live ISOs',
    operands: { DEST: 'folder to copy to' },
    options: takes.MACHINE_OS_COPY_ISO_OPTIONS,
    load: async () => {
      const { machineOsCopyIso } = await import('./machine-os-actions.js')
      return (options, { environment, operands: [to = ''] }) => machineOsCopyIso(options, environment, to)
    },
  }),
  defineCommand({
    usage: 'machine-os copy-pxe DEST',
    description: 'extract the files for network boots',
    operands: { DEST: 'folder to copy to' },
    options: takes.MACHINE_OS_COPY_PXE_OPTIONS,
    load: async () => {
      const { machineOsCopyPxe } = await import('./machine-os-actions.js')
      return (options, { environment, operands: [to = ''] }) => machineOsCopyPxe(options, environment, to)
    },
  }),
  defineCommand({
    usage: 'machine-os copy-metal DEST',
    description: 'copy ISOs and files for network boots, with links under the names that Ironic uses',
    operands: { DEST: 'folder to copy to' },
    options: takes.MACHINE_OS_COPY_METAL_OPTIONS,
    descriptions: {
      all: 'copy everything (default)',
      architecture: "architecture of the links without one (default: this host's)",
    },
    load: async () => {
      const { machineOsCopyMetal } = await import('./machine-os-actions.js')
      return (options, { environment, operands: [to = ''] }) => machineOsCopyMetal(options, environment, to)
    },
  }),
  defineCommand({
    usage: 'machine-os verify DIR',
    description: 'compare live images with stream metadata',
    operands: { DIR: 'folder with ISOs, kernels, initramfs and root filesystems' },
    options: takes.MACHINE_OS_VERIFY_OPTIONS,
    descriptions: { stream: 'name, URL or file of the stream (default: the streams in DIR)' },
    load: async () => {
      const { machineOsVerify } = await import('./machine-os-actions.js')
      return (options, { environment, operands: [folder = ''] }) => machineOsVerify(options, environment, folder)
    },
  }),
]
