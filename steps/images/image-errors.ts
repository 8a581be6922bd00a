import { UserError } from '../../base/runtime/index.js'

export const wrongDigest = (shownUrl: string, wanted: string, found: string): UserError =>
  new UserError('image-digest', `${shownUrl} is not the image that was asked for`, {
    cause: new Error(`its SHA-256 is ${found} instead of ${wanted}`),
    remedy: 'the image has changed or was damaged in transit: compare it with its published checksum',
  })

export const imageDamagedError = (shownUrl: string, cause: unknown): UserError =>
  new UserError('image-damaged', `${shownUrl} is damaged`, {
    cause,
    remedy: 'fetch it by other means and compare its checksum: the server may have sent only a part',
  })
