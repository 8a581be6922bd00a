import { maskedUrl } from '../../base/bytes/index.js'
import { errorChain, userError } from '../../base/runtime/index.js'
import type { StagedAsset } from '../../targets/index.js'
import { StepError, type StepContext } from '../sdk/step.js'
import type { InstallInput } from './install-input.js'

/**
 * Stages the image for the target; null when the installer fetches it itself.
 *
 * @throws StepError when the image cannot be fetched or fails a check, before any disk is written
 */
export async function stagedImage(context: StepContext, { image }: InstallInput): Promise<StagedAsset | null> {
  const { target, progress, logger, signal } = context
  if (image === null || target.planned) return null
  const { url, insecure, digest } = image
  if (!target.stage) {
    if (digest?.required)
      throw new StepError(
        `install_coreos: the SHA-256 of ${maskedUrl(url)} cannot be checked on ${target.name}, whose installer fetches it by itself and checks signatures only. Nothing was written to any disk. Leave image_sha256 out, or let images be fetched for it.`,
      )
    if (digest) logger('warn', 'the SHA-256 of the image is not checked: the installer fetches it by itself')
    return null
  }
  progress.stage('fetching the image')
  let reported = -1
  try {
    const staged = await target.stage(
      { url, sha256: digest?.sha256 ?? null, signature: insecure ? 'where present' : 'required' },
      {
        signal,
        onProgress: (received, total) => {
          const percent = total ? Math.floor((received * 100) / total) : -1
          if (percent > reported) progress.percent((reported = percent))
        },
      },
    )
    if (staged) logger('info', 'the image is at hand', { ...staged.about })
    return staged
  } catch (error) {
    signal.throwIfAborted()
    const remedy = userError(error)?.remedy
    throw new StepError(
      `install_coreos: ${errorChain(error).join(': ')}. Nothing was written to any disk${remedy === undefined ? '' : `; ${remedy}`}.`,
      { cause: error },
    )
  }
}
