/** Parts of names whose values are secrets: those of oslo.utils and Ironic, and what configs and agents add. */
const PARTS = [
  'adminpass',
  'admin_pass',
  'auth_token',
  'chappassword',
  'encrypted_key',
  'fernetkey',
  'new_pass',
  'passphrase',
  'password',
  'private_key',
  'privatekey',
  'secret',
  'snmp_auth_key',
  'snmp_priv_key',
  'sslkey',
  'sys_pswd',
  'token',
  // Config drives, and the logs that an agent hands over, which have the text of both.
  'configdrive',
  'user_data',
  'userdata',
  'pull_secret',
  'pullsecret',
  'system_logs',
]

/** Names, whole, of logs that an agent hands over with its inventory. */
const WHOLE = ['logs']

/** Headers that carry credentials under a name that does not say so. */
const CREDENTIAL_HEADERS = ['authorization', 'cookie', 'set-cookie', 'www-authenticate']

/** Parts of the names of a signed URL's arguments. */
const SIGNATURES = ['signature', 'credential', 'sig', 'apikey', 'api_key']

/** Knows which names stand for secrets. */
export class SecretNames {
  readonly #more: ReadonlySet<string>

  /** @param more further names, whole and in any case */
  constructor(more: readonly string[] = []) {
    this.#more = new Set(more.map((name) => name.toLowerCase()))
  }

  key(name: string): boolean {
    const plain = name.toLowerCase().replaceAll('-', '_')
    return WHOLE.includes(plain) || PARTS.some((part) => plain.includes(part)) || this.#more.has(name.toLowerCase())
  }

  header(name: string): boolean {
    return CREDENTIAL_HEADERS.includes(name) || this.key(name)
  }

  argument(name: string): boolean {
    return this.key(name) || SIGNATURES.some((part) => name.toLowerCase().endsWith(part))
  }
}
