import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'yaml'
import { checkNesting, defined, readNested, UserError } from '../../base/runtime/index.js'
import {
  documentKind,
  documentText,
  metadataObjectSchema,
  parseMetadataJson,
  METADATA_TEXT_SCHEMA,
} from './metadata-document.js'
import { STREAM_KIND, type StreamMetadata } from './stream-metadata.js'
import { ERRORS } from '../errors.js'

/** Boot images of a cluster: the `coreos-bootimages` ConfigMap of the machine config operator. */
export interface BootImages {
  /** Version of OpenShift; `0.0.1-snapshot` before a release is built. */
  releaseVersion: string
  /** The default stream. */
  stream: StreamMetadata
  /** Streams by names such as `rhel-9`; null in a ConfigMap with a single stream. */
  streams: Readonly<Record<string, StreamMetadata>> | null
}

const CLUSTER_PROFILES = ['ibm-cloud-managed', 'self-managed-high-availability', 'single-node-developer']

interface StreamConfigMap {
  kind: 'ConfigMap'
  data: { releaseVersion?: string; stream: string; streams?: string }
}

export const CONFIG_MAP = documentKind<StreamConfigMap>(
  'coreos-bootimages ConfigMap',
  metadataObjectSchema({
    kind: { const: 'ConfigMap' },
    data: metadataObjectSchema(
      { releaseVersion: METADATA_TEXT_SCHEMA, stream: METADATA_TEXT_SCHEMA, streams: METADATA_TEXT_SCHEMA },
      ['stream'],
    ),
  }),
)

/** The ConfigMap as YAML, for `oc apply` or for a release image. */
export function bootImagesText({ releaseVersion, stream, streams }: BootImages): string {
  const annotations = CLUSTER_PROFILES.map((profile) => [`include.release.openshift.io/${profile}`, 'true'])
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        annotations: Object.fromEntries(annotations) as Record<string, string>,
        name: 'coreos-bootimages',
        namespace: 'openshift-machine-config-operator',
      },
      data: {
        releaseVersion,
        stream: documentText(stream),
        ...defined({ streams: streams ? documentText(streams) : undefined }),
      },
    },
    { lineWidth: 0 },
  )
}

/**
 * Parses a ConfigMap in YAML, or in JSON as `oc get -o json` prints it.
 *
 * @throws UserError `metadata-yaml`, `metadata-json`, `metadata-schema`; `metadata-contradiction` when `stream` is not among `streams`
 */
export function readBootImages(text: string, name: string): BootImages {
  let value: unknown
  try {
    value = readNested(text, name, parse)
    checkNesting(value, name)
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw new UserError('metadata-yaml', `${name} is not YAML`, { cause, remedy: ERRORS['metadata-yaml'].remedy })
  }
  const { data } = CONFIG_MAP.check(value, name)
  const stream = STREAM_KIND.read(data.stream, `data.stream in ${name}`)
  const streams = data.streams === undefined ? null : readStreams(data.streams, `data.streams in ${name}`)
  if (streams && !Object.values(streams).some((one) => isDeepStrictEqual(one, stream)))
    throw new UserError(
      'metadata-contradiction',
      `${name} contradicts itself: its stream ${stream.stream} of ${stream.metadata['last-modified']} is none of its streams`,
      { remedy: 'generate it again from the same stream metadata' },
    )
  return { releaseVersion: data.releaseVersion ?? '0.0.1-snapshot', stream, streams }
}

function readStreams(text: string, name: string): Record<string, StreamMetadata> {
  const value = documentKind<Record<string, unknown>>('map of streams', { type: 'object', minProperties: 1 }).check(
    parseMetadataJson(text, name),
    name,
  )
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, STREAM_KIND.check(one, `${key} of ${name}`)]),
  )
}

/** @throws UserError `stream-name` that lists the streams */
export function streamNamed({ stream, streams }: BootImages, name?: string): StreamMetadata {
  if (name === undefined) return stream
  const found = streams?.[name] ?? [stream, ...Object.values(streams ?? {})].find((one) => one.stream === name)
  if (found) return found
  throw new UserError('stream-name', `there is no stream ${name}`, {
    remedy: `there is ${Object.entries(streams ?? { '': stream })
      .map(([key, one]) => key || one.stream)
      .join(', ')}`,
    kind: 'usage',
  })
}
