// Models that search the web without being given a tool for it: whoever asks one of them has asked for a search.

import { isList, type Json } from '@tollgate/evidence'

// OpenAI's own, any that OpenRouter is asked to bring online, Perplexity's, and Groq's systems. A maker's name may stand before.
const SEARCHING = /-search-(?:preview|api)|:online|(?:^|[/\s])(?:perplexity\/|sonar|compound)/i

/** Whether a model, or one of a list of them, searches by itself. */
export function searchesByItself(model: Json | undefined): boolean {
  if (isList(model)) return model.some(searchesByItself)
  return typeof model === 'string' && SEARCHING.test(model)
}
