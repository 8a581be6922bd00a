import { seconds } from '../../runtime/index.js'

/** Time limits of a server in milliseconds of wall time, also under a lab's clock: its program runs outside the lab. */
export interface HttpLimits {
  /** Until there is a connection: name looked up, connected, proxy and TLS agreed. */
  connect: number
  /** From the request to the end of the answer's header. */
  header: number
  /** Between two parts of the body. */
  silence: number
  /** A body that brings less than `bytes` within `within` of waiting for it is given up. */
  slowest: { bytes: number; within: number }
  /** Bytes of a header, status line included. */
  headerBytes: number
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  connect: seconds(30),
  header: seconds(60),
  silence: seconds(60),
  slowest: { bytes: 60 * 1024, within: seconds(60) },
  headerBytes: 64 * 1024,
}
