// Package offering knows what each class can buy, and builds its catalogue from the instance types of
// the region, their prices, and what Tenon has learned: how much memory nodes really had, which offerings
// EC2 could not deliver a moment ago, and which zones traffic is shifted away from. Prices are those that
// AWS has answered with, else the built-in ones; a failed query never removes a known price. A catalogue is
// built anew when any of that has changed, and is the same value as long as nothing has.
//
// Answers of EC2 take precedence over the built-in facts. These fill in what EC2 does not say: the sustained
// bandwidth of a type, and its number of branch interfaces. Other packages decide when to ask EC2; a
// catalogue is built without asking.
package offering
