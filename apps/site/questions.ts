import { headingAnchor, linksOf } from './markdown.js'
import type { SiteSearch } from './search.js'
import { SITE_PAGES } from './structure.js'

/** A question of `docs/questions.md`. */
export interface SiteQuestion {
  title: string
  /** Words that a user would type. */
  words: string
  /** Addresses that answer it: its own section, and the pages that the answer leads to. */
  answers: string[]
}

/** A search shows so many results without scrolling. */
const MAX_SEEN_RESULTS = 3

const QUESTIONS = SITE_PAGES.find(({ source }) => source === 'docs/questions.md')!.to

/** The questions of the page, each with the words in the comment below it. */
export function siteQuestions(page: string): SiteQuestion[] {
  const [, ...sections] = page.split(/^## /m)
  return sections.map((section) => {
    const [title = ''] = section.split('\n')
    const words = /<!-- words: (.*?) -->/.exec(section)?.[1] ?? ''
    const linked = linksOf(section).flatMap(({ target }) => {
      const found = SITE_PAGES.find(({ source }) => source === `docs/${target}` || `../${source}` === target)
      return found === undefined ? [] : [found.to]
    })
    return { title, words, answers: [`${QUESTIONS}#${headingAnchor(title)}`, ...linked] }
  })
}

/** The question's best results, if none of them is an answer. */
export function unanswered({ words, answers }: SiteQuestion, search: SiteSearch): string[] | undefined {
  const seen = search(words).slice(0, MAX_SEEN_RESULTS)
  // A page of the list answers with any section, the page of all questions with the one of this question.
  const isAnswer = (result: string): boolean => answers.includes(result) || answers.includes(result.split('#')[0]!)
  return seen.some(isAnswer) ? undefined : seen
}
