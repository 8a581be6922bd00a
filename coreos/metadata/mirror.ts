import { FILE_NAMES, type Artifact, type ImageFormat } from './artifact.js'
import type { Stream } from './stream.js'

/** Where a mirror has a file: below its own address at the path that the file has where it comes from. */
export const mirroredUrl = (base: string, location: string): string => {
  const { pathname, search } = new URL(location)
  return `${base.replace(/\/+$/, '')}${pathname}${search}`
}

/** A stream with other places for its files; nothing else of it changes. */
export function relocated(stream: Stream, place: (location: string) => string): Stream {
  const artifact = (one: Artifact): Artifact => ({
    ...one,
    location: place(one.location),
    ...(one.signature ? { signature: place(one.signature) } : {}),
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
