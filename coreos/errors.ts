import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    coreos: typeof ERRORS
  }
}

/** Error codes of `coreos/`, each with its failure and usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-config': {
    sentence: 'Ignition would refuse the config that starts the agent',
    remedy: 'look for two keyfiles with the same name, a duplicate SSH key, or a text that is too long for a unit',
  },
  'agent-option': {
    sentence: 'an option of the agent on CoreOS has an invalid value',
    remedy: 'correct the option',
  },
  'agent-url': {
    sentence: 'the Ironic URL for the agent is missing or invalid',
    remedy: 'give a URL like http://192.0.2.1:6385',
  },
  'boot-image-platform': {
    sentence: 'there is no boot image for the platform',
    remedy: 'choose a platform from the list',
  },
  'http-refused': {
    sentence: 'a download uses http, but https is required',
    remedy: 'use https, or allow http with --insecure if the command has that option',
  },
  'live-files': {
    sentence: 'the files of the live image do not match each other or cannot be read',
    remedy: 'give a live ISO, or kernel, initramfs and rootfs together',
  },
  'live-image': {
    sentence: 'a live image cannot be read or changed',
    remedy: 'give a live ISO, or kernel, initramfs and rootfs, as CoreOS publishes them',
  },
  'machine-os-digest': {
    sentence: 'a machine-os image differs from its published digest',
    remedy: 'build the image again',
  },
  'machine-os-empty': {
    sentence: 'the folder has no CoreOS live image',
    remedy: 'name a folder that ironstage machine-os has filled',
  },
  'machine-os-folder': {
    sentence: 'the machine-os folder cannot be read',
    remedy: 'name the folder that ironstage machine-os build has filled',
  },
  'machine-os-kargs': {
    sentence: 'the kernel arguments of the live image cannot be changed',
    remedy: 'leave out IP_OPTIONS and --fips, or use a newer CoreOS',
  },
  'machine-os-pxe': {
    sentence: 'the live ISO lacks a file that network boot needs',
    remedy: 'use a CoreOS live ISO',
  },
  'machine-os-stamp': {
    sentence: 'a machine-os image has no digest file beside it',
    remedy: 'add the published digest, or build the folder again',
  },
  'machine-os-version': {
    sentence: 'the requested CoreOS version is not among the images',
    remedy: 'choose an available version',
  },
  'metadata-contradiction': {
    sentence: 'the stream metadata contradicts itself',
    remedy: 'generate it again from one source',
  },
  'metadata-incomplete': {
    sentence: 'the metadata lacks a required part',
    remedy: 'name the missing document',
  },
  'metadata-json': {
    sentence: 'the document is not JSON',
    remedy: 'name a JSON document',
  },
  'metadata-mixed': {
    sentence: 'the metadata mixes builds or architectures that do not belong together',
    remedy: 'name each architecture once, or start a new release',
  },
  'metadata-rollout': {
    sentence: 'the document is rollout metadata, not metadata of images',
    remedy: 'name the stream metadata (streams/STREAM.json) or the index of its releases (releases.json)',
  },
  'metadata-schema': {
    sentence: 'the document does not match the schema of CoreOS metadata',
    remedy: 'run ironstage stream validate',
  },
  'metadata-unknown': {
    sentence: 'the document is not CoreOS metadata',
    remedy: 'name a meta.json, release.json, releases.json, stream metadata or a coreos-bootimages ConfigMap',
  },
  'metadata-yaml': {
    sentence: 'the document is not YAML',
    remedy: 'name a ConfigMap',
  },
  offline: {
    sentence: 'a required file is missing, and --offline forbids downloading it',
    remedy: 'fetch the file once without --offline',
  },
  'outside-mirror': {
    sentence: 'a required file is not on the mirror',
    remedy: 'put the file on the mirror itself, without redirects',
  },
  'release-component': {
    sentence: 'the release has no such component',
    remedy: 'choose one that ironstage release info lists',
  },
  'release-image': {
    sentence: 'the image has no boot images or is not a release',
    remedy: 'name another release, or unpack one into the folder',
  },
  'release-write': {
    sentence: 'these parts do not make a release',
    remedy: 'correct what the message names; nothing was written',
  },
  'stream-artifact': {
    sentence: 'the stream has no such artifact',
    remedy: 'choose one that the message lists',
  },
  'stream-back-in-time': {
    sentence: 'the stream is older than the published one',
    remedy: 'use a newer stream, or pin the dated copy of the older one',
  },
  'stream-changed': {
    sentence: 'the stream differs from its pinned digest',
    remedy: 'use the copy that was pinned',
  },
  'stream-duplicate': {
    sentence: 'an architecture occurs twice in the stream',
    remedy: 'name one release per architecture',
  },
  'stream-image': {
    sentence: 'the stream has no image for the architecture or format',
    remedy: 'name an image by its URL',
  },
  'stream-metadata': {
    sentence: 'the document is not stream metadata',
    remedy: 'name a stream (stable, testing, next) or the URL of its JSON document',
  },
  'stream-name': {
    sentence: 'there is no stream with this name',
    remedy: 'choose one that the message lists',
  },
  'stream-published': {
    sentence: 'a stream with that date is already published with different content',
    remedy: 'give the new stream a different last-modified time',
  },
  'stream-server': {
    sentence: 'streams cannot be served on this address',
    remedy: 'choose another address or port; 0 picks a free port',
  },
  'stream-unpublished': {
    sentence: 'the stream is not published in the folder',
    remedy: 'publish it with ironstage stream publish, or name the date of an existing copy',
  },
  'stream-unreachable': {
    sentence: 'the stream metadata could not be fetched',
    remedy: 'check the name of the stream and the network, or name an image',
  },
  'version-family': {
    sentence: 'only one of the two versions is a Fedora CoreOS version',
    remedy: 'compare versions of the same system',
  },
  'version-form': {
    sentence: 'the text is not a CoreOS version',
    remedy: 'write a version like 38.20230718.3.0 or 9.2.20220510.1',
  },
})
