import { defined } from '../../base/runtime/index.js'
import { FILE_NAMES, type StreamArtifact, type ImageFormat } from './artifact.js'
import type { StreamMetadata } from './stream-metadata.js'

/** URL of a file on a mirror: the file's original path below the mirror's base URL. */
export const mirroredUrl = (base: string, location: string): string => {
  const { pathname, search } = new URL(location)
  return `${base.replace(/\/+$/, '')}${pathname}${search}`
}

/** Copies a stream with other locations of its files. */
export function relocateStream(stream: StreamMetadata, place: (location: string) => string): StreamMetadata {
  const artifact = (one: StreamArtifact): StreamArtifact => ({
    ...one,
    location: place(one.location),
    ...defined({ signature: one.signature ? place(one.signature) : undefined }),
  })
  const format = (files: ImageFormat): ImageFormat =>
    Object.fromEntries(FILE_NAMES.flatMap((file) => (files[file] ? [[file, artifact(files[file])]] : [])))
  const each = <T, R>(map: Record<string, T>, change: (value: T) => R): Record<string, R> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]))
  return {
    ...stream,
    architectures: each(stream.architectures, (of) => ({
      ...of,
      artifacts: each(of.artifacts, (platform) => ({ ...platform, formats: each(platform.formats, format) })),
    })),
  }
}
