package offering

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/cloud/aws/api"
	"tenon/core/model"
)

// UpdateSpot asks for the spot prices of now. Prices that are not told again stay.
func (l *PriceList) UpdateSpot(ctx context.Context, client api.EC2Market, now time.Time) error {
	found, err := askSpotPrices(ctx, client, now)
	if err != nil {
		return fmt.Errorf("ask for spot prices: %w", err)
	}
	if len(found) == 0 {
		return errors.New("no spot pricing found")
	}
	l.change(func(old Prices) Prices {
		merged := maps.Clone(old.spot)
		if merged == nil {
			merged = map[spotPool]model.Money{}
		}
		for p, entry := range found {
			merged[p] = entry.price
		}
		old.spot = merged
		return old
	})
	return nil
}

type quote struct {
	price model.Money
	at    time.Time
}

func askSpotPrices(ctx context.Context, client api.EC2Market, now time.Time) (map[spotPool]quote, error) {
	found := map[spotPool]quote{}
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(client, &ec2.DescribeSpotPriceHistoryInput{
		ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"},
		StartTime:           aws.Time(now),
		MaxResults:          aws.Int32(2000),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, entry := range page.SpotPriceHistory {
			keepLatest(found, entry)
		}
	}
	return found, nil
}

// keepLatest keeps the latest price of each pool.
func keepLatest(found map[spotPool]quote, entry types.SpotPrice) {
	price, ok := parsePrice(aws.ToString(entry.SpotPrice))
	if !ok || entry.Timestamp == nil {
		return
	}
	p := spotPool{string(entry.InstanceType), aws.ToString(entry.AvailabilityZone)}
	if known, there := found[p]; !there || entry.Timestamp.After(known.at) {
		found[p] = quote{price, *entry.Timestamp}
	}
}
