#include "export/oklch.h"

#include <math.h>

uint32_t oklch_to_rgb(double lightness, double chroma, double hue)
{
	const double a = chroma * cos(hue * M_PI / 180), b = chroma * sin(hue * M_PI / 180);
	const double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
	const double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
	const double s = pow(lightness - 0.0894841775 * a - 1.291485548 * b, 3);
	const double linear[] = {
		4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
		-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
		-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
	};
	uint32_t rgb = 0;

	for (int i = 0; i < 3; i++) {
		const double x = fmin(1, fmax(0, linear[i]));
		const double channel =
			x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;

		rgb = rgb << 8 | (uint32_t)lround(255 * channel);
	}
	return rgb;
}
