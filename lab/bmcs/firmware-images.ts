import { basicAuthorization, HttpClient } from '../../base/bytes/index.js'
import type { FetchFirmware } from '../../bmc/redfish/index.js'
import { defined, seconds, type Clock } from '../../base/runtime/index.js'

/** Milliseconds of wall time that a server may be silent. */
const FIRMWARE_SERVER_TIMEOUT = seconds(30)
/** Largest image that a BMC has room for, in bytes. */
const MAX_FIRMWARE_IMAGE_BYTES = 512 * 2 ** 20

export interface FirmwareImageOptions {
  clock: Clock
  /** Throws for a URL that is not reached. */
  allow?: ((url: string) => void) | undefined
  /** Certificates that servers are checked by; without them none is checked, as by most BMCs. */
  ca?: string | undefined
}

/** Fetches images of firmware as a BMC does before it writes them: as a whole, and to no purpose but that they are there. */
export function firmwareImages({ clock, allow, ca }: FirmwareImageOptions): FetchFirmware {
  const http = new HttpClient({
    ...defined({ allow }),
    ...(ca === undefined ? { insecure: true } : { ca }),
    clock,
    redirects: 5,
    limits: { connect: FIRMWARE_SERVER_TIMEOUT, header: FIRMWARE_SERVER_TIMEOUT, silence: FIRMWARE_SERVER_TIMEOUT },
  })
  return async (url, { signal, account }) => {
    const authorization = account && basicAuthorization(account)
    const answer = await http.get({
      url,
      signal,
      ...defined({ headers: authorization ? { authorization } : undefined }),
    })
    try {
      if (answer.status !== 200) throw new Error(`the server answered ${answer.status}`)
      let size = 0
      for await (const bytes of answer.body) {
        size += bytes.length
        if (size > MAX_FIRMWARE_IMAGE_BYTES)
          throw new Error(`the image has more than ${MAX_FIRMWARE_IMAGE_BYTES / 2 ** 20} MiB`)
      }
      if (size === 0) throw new Error('the image is empty')
    } finally {
      await answer.close()
    }
  }
}
