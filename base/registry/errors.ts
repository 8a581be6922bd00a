import { defineCatalogue } from '../runtime/index.js'

declare module '../runtime/error.js' {
  interface ErrorCatalogues {
    registry: typeof ERRORS
  }
}

/** Error codes of `registry/`, each with its failure and usual remedy. */
export const ERRORS = defineCatalogue({
  'image-altered': {
    sentence: 'the content of an image does not match its manifest',
    remedy: 'copy the image to the registry or folder again',
  },
  'image-layers': {
    sentence: 'the layers of an image cannot be read',
    remedy: 'build the image again, with plain files and without sparse ones',
  },
  'image-manifest': {
    sentence: 'the manifest of an image cannot be used',
    remedy: 'push the image again in the format OCI or Docker v2 schema 2',
  },
  'image-mirrors': {
    sentence: 'the --mirrors file cannot be used',
    remedy:
      'name an ImageContentSourcePolicy, an ImageDigestMirrorSet, an ImageTagMirrorSet, a registries.conf or a folder of them',
  },
  'image-not-found': {
    sentence: 'the registry or folder has no such image',
    remedy: 'correct its name, tag or digest',
  },
  'image-platform': {
    sentence: 'there is no image for the platform',
    remedy: 'choose an architecture that the message lists',
  },
  'image-reference': {
    sentence: 'the name of an image is malformed',
    remedy: 'write REGISTRY/REPOSITORY:TAG, REGISTRY/REPOSITORY@sha256:..., or oci:FOLDER',
  },
  'oci-layout': {
    sentence: 'the folder is not an OCI layout',
    remedy: 'name a folder with oci-layout, index.json and blobs, as skopeo copy ... oci:FOLDER writes it',
  },
  'registry-auth-file': {
    sentence: 'the registry credentials file cannot be used',
    remedy: 'create it with podman login --authfile FILE REGISTRY',
  },
  'registry-busy': {
    sentence: 'the registry limits the request rate',
    remedy: 'wait, or log in with an account that has a higher limit',
  },
  'registry-protocol': {
    sentence: 'a server does not answer like a registry',
    remedy: "check that the name is a registry's, and that no proxy answers instead",
  },
  'registry-refused': {
    sentence: 'the registry refuses a request',
    remedy: "see the registry's answer in the message",
  },
  'registry-unauthorized': {
    sentence: 'the registry refuses access',
    remedy: 'log in with podman login REGISTRY, and name the file with --authfile',
  },
  'registry-unreachable': {
    sentence: 'the registry cannot be reached',
    remedy: 'see the cause in the message',
  },
})
