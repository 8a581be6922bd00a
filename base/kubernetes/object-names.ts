/**
 * Forms of names, and the sentences that refuse others: apimachinery 0.31 pkg/util/validation/validation.go and
 * pkg/api/validation/objectmeta.go.
 */
const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = String.raw`${DNS_LABEL}(\.${DNS_LABEL})*`
const NAME_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

const matcher = (pattern: string): RegExp => new RegExp(`^${pattern}$`)
const IS_LABEL = matcher(DNS_LABEL)
const IS_SUBDOMAIN = matcher(SUBDOMAIN)
const IS_NAME_PART = matcher(NAME_PART)

const tooLong = (most: number): string => `must be no more than ${most} characters`
const tooManyBytes = (most: number): string => `must be no more than ${most} bytes`

/** Problem of an object's name; undefined when there is none. */
export function nameProblem(name: string): string | undefined {
  if (name.length > 253) return tooLong(253)
  if (IS_SUBDOMAIN.test(name)) return undefined
  return `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`
}

/** Problem of a name that has to fit between two slashes: apimachinery pkg/api/validation/path. */
export function segmentProblem(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`
  const forbidden = ['/', '%'].find((each) => name.includes(each))
  return forbidden === undefined ? undefined : `may not contain '${forbidden}'`
}

export function namespaceProblem(name: string): string | undefined {
  if (name.length > 63) return tooLong(63)
  if (IS_LABEL.test(name)) return undefined
  return `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${DNS_LABEL}')`
}

/** Problem of a label's or an annotation's key, or of a finalizer. */
export function qualifiedNameProblem(key: string): string | undefined {
  const parts = key.split('/')
  const [prefix, name] = parts.length === 1 ? [undefined, parts[0]!] : [parts[0]!, parts[1]!]
  if (parts.length > 2 || name === '')
    return `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME_PART}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
  if (prefix !== undefined) {
    const problem = nameProblem(prefix)
    if (problem !== undefined) return `prefix part ${problem}`
  }
  if (name.length > 63) return `name part ${tooManyBytes(63)}`
  if (IS_NAME_PART.test(name)) return undefined
  return `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME_PART}')`
}

export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return tooManyBytes(63)
  if (value === '' || IS_NAME_PART.test(value)) return undefined
  return `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${NAME_PART})?')`
}

/** A key of a ConfigMap's or a Secret's data. */
export function dataKeyProblem(key: string): string | undefined {
  if (key.length > 253) return tooLong(253)
  if (/^[-._a-zA-Z0-9]+$/.test(key) && key !== '.' && key !== '..') return undefined
  return `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`
}
