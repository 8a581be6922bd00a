import { visibleText } from '../../base/runtime/index.js'

/** A piece of HTML. Only {@link markup} makes one, so that no value gets into a page as it is. */
export class Html {
  readonly text: string

  /** @param text HTML that is written in the source, or made of escaped values */
  private constructor(text: string) {
    this.text = text
  }

  /** Called by {@link markup} alone. */
  static of(text: string): Html {
    return new Html(text)
  }
}

/** Value of a template: a piece of HTML, or what is escaped. Null and false are nothing. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[]

/**
 * HTML of a template, whose values are escaped, also within quoted attributes.
 *
 * @example
 * const cell = markup`<td title="${name}">${name}</td>`
 */
export function markup(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return Html.of(
    strings.map((text, index) => (index === 0 ? text : renderHtmlValue(values[index - 1]) + text)).join(''),
  )
}

function renderHtmlValue(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(renderHtmlValue).join('')
  return escapeHtml(String(value))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for XML and HTML; characters that cannot be seen, and those that XML cannot have, are replaced by a sign. */
export const escapeHtml = (text: string): string => visibleText(text).replaceAll(/[&<>"']/g, (each) => ENTITIES[each]!)
