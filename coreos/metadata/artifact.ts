import type { SchemaObject } from 'ajv'
import { metadataObjectSchema, SHA256, URL_TEXT } from './metadata-document.js'

/** A published file. */
export interface StreamArtifact {
  location: string
  /** URL of a detached signature; empty or missing without one, as for RHEL CoreOS. */
  signature?: string
  sha256: string
  'uncompressed-sha256'?: string
}

export const FILE_NAMES = ['disk', 'kernel', 'initramfs', 'rootfs'] as const
/** A file of an image: `disk`, or one of the three of a network boot. */
export type ImageFileName = (typeof FILE_NAMES)[number]

/** The files of one form of an image: `disk`, or the three of a network boot. */
export type ImageFormat = { [K in ImageFileName]?: StreamArtifact }

const artifact: SchemaObject = metadataObjectSchema(
  {
    location: URL_TEXT,
    signature: { anyOf: [URL_TEXT, { const: '' }] },
    sha256: SHA256,
    'uncompressed-sha256': SHA256,
  },
  ['location', 'sha256'],
)

export const formatSchema: SchemaObject = {
  type: 'object',
  properties: Object.fromEntries(FILE_NAMES.map((name) => [name, artifact])),
  additionalProperties: false,
  minProperties: 1,
}
