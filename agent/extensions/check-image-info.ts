import { isObject } from '../../base/runtime/index.js'
import { AgentError } from '../../base/wire/index.js'
import { type CommandValidation } from './extension.js'

const MD5_DIGITS = 32

/**
 * Checks the image of `prepare_image` before the command starts, in IPA's order.
 *
 * @throws AgentError InvalidCommandParamsError
 */
export function checkImageInfo(imageInfo: unknown, { md5 }: CommandValidation): void {
  const bad = (what: string): AgentError => new AgentError('InvalidCommandParamsError', what)
  const info = isObject(imageInfo) ? imageInfo : {}
  for (const field of ['id', 'urls']) if (info[field] === undefined) throw bad(`Image is missing '${field}' field.`)
  if (!Array.isArray(info['urls']) || info['urls'].length === 0)
    throw bad("Image 'urls' must be a list with at least one element.")
  const { checksum, os_hash_algo: algorithm, os_hash_value: value } = info
  if (checksum !== undefined && checksum !== null && !isText(checksum))
    throw bad("Image 'checksum' must be a non-empty string.")
  const hashed = Boolean(algorithm) || Boolean(value)
  if (hashed)
    for (const field of ['os_hash_algo', 'os_hash_value'])
      if (!isText(info[field])) throw bad(`Image '${field}' must be a non-empty string.`)
  // MD5 counts only when it is enabled.
  const checked = isText(checksum) && (md5 || checksum.length > MD5_DIGITS || /^\w+:\/\//.test(checksum))
  if (!checked && !hashed)
    throw bad(
      "Image checksum is not available, either the 'checksum' field or the 'os_hash_algo' and 'os_hash_value' fields pair must be set for image verification.",
    )
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
