import { FLAG, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, WORDS, type CommandOptionShape } from './option-shape.js'

/** Options of `stream`, `download`, `boot-image` and `images make`. */
export const STREAM_SHAPES = {
  stream: {
    value: 'STREAM',
    short: 's',
    description: 'name, URL or file of the stream, or a release with #NAME of one of its streams',
    schema: OPTION_TEXT_SCHEMA,
  },
  architecture: {
    value: 'ARCH',
    short: 'a',
    description: "architecture as uname -m prints it (default: this host's)",
    schema: OPTION_TEXT_SCHEMA,
  },
  platform: {
    value: 'NAME',
    short: 'p',
    description: 'platform of the image: metal, openstack, qemu ... (default: metal)',
    schema: OPTION_TEXT_SCHEMA,
  },
  format: {
    value: 'NAME',
    short: 'f',
    description: 'format of the image: raw.xz, iso, pxe ... (default: raw.xz or raw.gz)',
    schema: OPTION_TEXT_SCHEMA,
  },
  file: {
    value: 'NAME',
    description: 'file of a format with several: disk, kernel, initramfs or rootfs (default: disk)',
    schema: { type: 'string', enum: ['disk', 'kernel', 'initramfs', 'rootfs'] },
  },
  cloud: {
    value: 'NAME',
    description: 'cloud whose image to find: aws, aliyun, ibmcloud or powervs (default: aws)',
    schema: { type: 'string', enum: ['aws', 'aliyun', 'ibmcloud', 'powervs'] },
  },
  region: { value: 'NAME', description: 'region of the cloud', schema: OPTION_TEXT_SCHEMA },
  field: {
    value: 'NAME',
    description: 'print only this field: location, sha256, release, image ...',
    schema: OPTION_TEXT_SCHEMA,
  },
  pin: {
    value: 'DATE',
    description: 'use the copy of this date of a published stream, as in streams/stream-4.8',
    schema: OPTION_TEXT_SCHEMA,
  },
  'pin-sha256': { value: 'DIGEST', description: 'digest that the copy must have', schema: OPTION_TEXT_SCHEMA },
  'older-stream': {
    flag: 'after',
    value: 'FILE',
    description: 'refuse a stream that is older than this one',
    schema: OPTION_TEXT_SCHEMA,
  },
  to: {
    value: 'KIND',
    description: 'kind of document to make: release, stream, index or config-map (default: stream)',
    schema: { type: 'string', enum: ['release', 'stream', 'index', 'config-map'] },
  },
  'target-metadata': {
    flag: 'target',
    value: 'FILE',
    description: 'stream whose other architectures are kept, or index whose releases are kept',
    schema: OPTION_TEXT_SCHEMA,
  },
  'stream-name': { flag: 'name', value: 'NAME', description: 'name of the stream', schema: OPTION_TEXT_SCHEMA },
  'builds-url': {
    flag: 'base-url',
    value: 'URL',
    description: "URL of the published builds (default: Fedora's)",
    schema: OPTION_TEXT_SCHEMA,
  },
  'no-signatures': { description: 'make metadata without signatures', schema: FLAG },
  'release-version': {
    value: 'VERSION',
    description: 'version of OpenShift, for a ConfigMap (default: 0.0.1-snapshot)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'stream-port': {
    flag: 'port',
    value: 'PORT',
    example: '8080',
    description: 'port to listen on; 0 picks a free one (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  directory: {
    value: 'DIR',
    short: 'C',
    description: 'folder to write to (default: the current one)',
    schema: OPTION_TEXT_SCHEMA,
  },
  decompress: { short: 'd', description: 'decompress files that end in .gz or .xz', schema: FLAG },
  'live-ignition': {
    flag: 'ignition',
    value: 'FILE',
    description: 'config for the live system of baremetal-iso and baremetal-pxe',
    schema: OPTION_TEXT_SCHEMA,
  },
  runtime: {
    value: 'KIND',
    description: 'source of the images: only published is supported (default: published)',
    schema: OPTION_TEXT_SCHEMA,
  },
  version: { value: 'VERSION', description: 'version of the images or the release', schema: OPTION_TEXT_SCHEMA },
  arch: {
    value: 'ARCH',
    short: 'a',
    description: 'architecture of the images: x86_64, aarch64, ppc64le or s390x; may be repeated (default: x86_64)',
    schema: WORDS,
  },
  'system-name': {
    flag: 'name',
    value: 'NAME',
    description: 'system of the version: fcos, rhcos or scos (default: fcos or rhcos, by the form of the version)',
    schema: { type: 'string', enum: ['fcos', 'rhcos', 'scos'] },
  },
  'image-stream': {
    flag: 'stream',
    value: 'NAME',
    description:
      'name of the stream in stream.json, and label io.openshift.os.streamclass of a container: rhel-9 or rhel-10 for OpenShift (default: by the version, and no label)',
    schema: { type: 'string', pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$' },
  },
  'images-url': {
    flag: 'base-url',
    value: 'URL',
    description:
      'URL of the folder, for stream.json; stream serve replaces it with its own (default: https://images.invalid/)',
    schema: OPTION_TEXT_SCHEMA,
  },
  bootc: {
    value: 'DEST',
    description:
      'make a container that bootc installs instead, at oci:DIR[:TAG] or REGISTRY/REPO[:TAG] (default tag: the version)',
    schema: OPTION_TEXT_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>

/** Options of `release write`. */
export const RELEASE_SHAPES = {
  'release-streams': {
    flag: 'stream',
    value: 'FILE',
    description: 'stream metadata for the ConfigMap coreos-bootimages; the first is the default; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  'release-builds': {
    flag: 'build',
    value: 'FILE',
    description: "coreos-assembler's meta.json: bootimage.json for its architecture; may be repeated",
    schema: OPTION_TEXTS_SCHEMA,
  },
  manifest: {
    value: 'FILE|DIR',
    description: 'manifest for release-manifests, or a folder of them; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  component: {
    value: 'NAME=PULLSPEC',
    description: 'image that the release refers to, by digest; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  operator: {
    value: 'NAME=PULLSPEC',
    description: 'component whose image has manifests, as oc adm release new takes them; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  repository: {
    value: 'NAME',
    description: 'REGISTRY/REPO in the names of components in oci:DIR (default: localhost/release)',
    schema: OPTION_TEXT_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>
