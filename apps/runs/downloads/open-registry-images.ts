import type { HttpClientOptions } from '../../../base/bytes/index.js'
import { refuseForbiddenUrls, type DownloadPolicy } from '../../../coreos/index.js'
import { Images, type AuthFiles, type MirrorArchive, type MirrorRule } from '../../../base/registry/index.js'
import { defined, type Clock } from '../../../base/runtime/index.js'

export interface RegistrySettings {
  auth?: AuthFiles
  mirrors?: readonly MirrorRule[]
  /** Images on a disk, which are looked for first. */
  archive?: MirrorArchive
  /** Hears of a server that has not answered, or has sent nothing more, for a while, in a sentence. */
  onWait?: (sentence: string) => void
}

/** Opens images with the settings of a command. A mirror of files is none of registries: those have mirrors of their own. */
export function openImages(
  { offline = false, insecure = false }: DownloadPolicy,
  settings: RegistrySettings = {},
  {
    fetching,
    clock,
    signal,
  }: { fetching: Omit<HttpClientOptions, 'clock' | 'allow'>; clock: Clock; signal: AbortSignal },
): Images {
  const { proxies, ca, limits } = fetching
  return new Images(
    {
      http: {
        clock,
        allow: refuseForbiddenUrls({ offline, insecure }),
        ...defined({ proxies, ca, limits }),
      },
      insecure,
      ...settings,
    },
    signal,
  )
}
