import type { BareMetalHost, Secret } from '../../base/kubernetes/index.js'

export interface AccountError {
  error: string
  /** True if the Secret may come without a change of what is there. */
  isMissing: boolean
}

/** CredentialsValidationError of pkg/hardwareutils/bmc: one of the two sentences has the plural. */
const INCOMPLETE = {
  username: "Validation error with BMC credentials: Missing BMC connection detail 'username' in credentials",
  password: "Validation error with BMC credentials: Missing BMC connection details 'password' in credentials",
}

/** The Secret with which the BMC of a host is asked, or what keeps it from that (buildAndValidateBMCCredentials). */
export function hostAccountOf<S extends Pick<Secret, 'data'>>(
  { spec, metadata }: { spec: Pick<BareMetalHost['spec'], 'bmc'>; metadata: { namespace?: string } },
  secrets: ReadonlyMap<string, S>,
): { secret: S } | AccountError {
  const wrong = (error: string): AccountError => ({ error, isMissing: false })
  const { credentialsName = '', address = '' } = spec.bmc ?? {}
  if (credentialsName === '') return wrong('No BMC CredentialsName defined The BMC secret reference is empty')
  const secret = secrets.get(credentialsName)
  if (!secret)
    return {
      error: `BMC CredentialsName secret doesn't exist The BMC secret ${metadata.namespace}/${credentialsName} does not exist`,
      isMissing: true,
    }
  if (address === '') return wrong("No BMC Address defined Missing BMC connection detail 'Address'")
  const value = (key: string): string =>
    Buffer.from(secret.data?.[key] ?? '', 'base64')
      .toString()
      .trim()
  if (value('username') === '') return wrong(INCOMPLETE.username)
  if (value('password') === '') return wrong(INCOMPLETE.password)
  return { secret }
}
